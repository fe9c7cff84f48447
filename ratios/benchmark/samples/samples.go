package samples

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Shards is how many ConfigMaps there are.
const Shards = 16

// maxWrites is how many ConfigMaps are written at a time, so that each is soon
// done, within the time that a write has.
const maxWrites = 4

// Config is what a Store is made of. All fields must be set.
type Config struct {
	// Client must be allowed to list, watch, get and update the ConfigMaps, and
	// must not bound the time of a watch.
	Client    kubernetes.Interface
	Namespace string
	// Prefix of their names, which a number from 0 to Shards-1 follows.
	Prefix string
	// ReadOnly keeps what is added in memory only.
	ReadOnly bool
	Clock    clock.Clock
	// OnReject is told of content that is bad; it must not block.
	OnReject func(*corev1.ConfigMap, error)
}

// Store keeps samples. All methods may be called at any time from any goroutine.
type Store struct {
	config Config
	shards [Shards]*shard
	// writing has the writes that are under way.
	writing chan struct{}

	mu     sync.Mutex
	limits Limits
	// contents are what is in force of each shard.
	contents [Shards]content
	revision int64
	// all is nil when it is to be made anew of contents.
	all     []sample.Sample
	changes broadcast.Broadcast
}

// New returns a store that is empty until Run.
func New(c Config) *Store {
	s := &Store{config: c, limits: DefaultLimits, writing: make(chan struct{}, maxWrites)}
	for i := range s.shards {
		s.shards[i] = newShard(s, i)
	}
	return s
}

// SetLimits replaces the limits, which hold from the next write on.
func (s *Store) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l
}

// Run follows the ConfigMaps until ctx is done; then it returns nil. The error is
// why one cannot be followed any more.
func (s *Store) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var following sync.WaitGroup
	failed := make(chan error, Shards)
	for _, shard := range s.shards {
		following.Go(func() {
			if err := shard.document.Run(ctx); err != nil {
				failed <- err
				cancel(err)
			}
		})
	}
	following.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// Err says why what is known is not what the ConfigMaps say now; nil if all is
// well. The others count all the same.
func (s *Store) Err() error {
	var all []error
	for _, shard := range s.shards {
		all = append(all, shard.document.Err())
	}
	return summary(all)
}

// Missing says that nothing can be stored in some ConfigMaps, for they do not
// exist, where Err does not say so because nothing is known of them; nil
// otherwise, also where nothing is stored at all.
func (s *Store) Missing() error {
	var all []error
	for _, shard := range s.shards {
		all = append(all, shard.document.Missing())
	}
	return summary(all)
}

// summary is the first error, and how many others there are.
func summary(all []error) error {
	var first error
	others := 0
	for _, err := range all {
		switch {
		case err == nil:
		case first == nil:
			first = err
		case err.Error() != first.Error():
			others++
		}
	}
	if others == 0 {
		return first
	}
	return fmt.Errorf("%w (and %d more of the ConfigMaps that keep samples are in trouble)", first, others)
}

// shardOf is the shard of all samples of a node type. It must never change, or
// what is stored is in the wrong place.
func shardOf(nodeType string) int {
	h := fnv.New32a()
	h.Write([]byte(nodeType))
	return int(h.Sum32() % Shards)
}

// name is that of the ConfigMap of a shard.
func (c *Config) name(shard int) string { return c.Prefix + strconv.Itoa(shard) }
