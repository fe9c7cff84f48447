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

// Shards is the number of ConfigMaps.
const Shards = 16

// maxWrites limits how many ConfigMaps are written at a time, so that each write finishes
// within its time limit.
const maxWrites = 4

// Config configures a Store. All fields must be set.
type Config struct {
	// Client must be allowed to list, watch, get and update the ConfigMaps, and
	// must not limit the duration of a watch.
	Client    kubernetes.Interface
	Namespace string
	// Prefix is the prefix of the ConfigMaps' names; a number from 0 to Shards-1
	// follows it.
	Prefix string
	// ReadOnly keeps added samples in memory only.
	ReadOnly bool
	Clock    clock.Clock
	// OnReject receives invalid content and what is wrong with it; it must not
	// block.
	OnReject func(*corev1.ConfigMap, error)
}

// Store stores samples. All methods are safe for concurrent use.
type Store struct {
	config Config
	shards [Shards]*shard
	// writing holds one item per write in progress.
	writing chan struct{}

	mu     sync.Mutex
	limits Limits
	// contents are the contents of the shards that are in effect.
	contents [Shards]content
	revision int64
	// all is nil if it must be computed again from contents.
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

// SetLimits replaces the limits, which apply from the next write on.
func (s *Store) SetLimits(l Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limits = l
}

// Run follows the ConfigMaps until ctx is done. Then it returns nil. An error means that a
// ConfigMap can no longer be followed.
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

// Err returns why the known samples differ from the ConfigMaps; nil if they do not. The
// samples of the other ConfigMaps still count.
func (s *Store) Err() error {
	var all []error
	for _, shard := range s.shards {
		all = append(all, shard.document.Err())
	}
	return summary(all)
}

// Missing returns an error if ConfigMaps do not exist that had no samples. Err does not
// report these, but nothing can be stored in them. Missing returns nil for a read-only
// store.
func (s *Store) Missing() error {
	var all []error
	for _, shard := range s.shards {
		all = append(all, shard.document.Missing())
	}
	return summary(all)
}

// summary returns the first error, with the number of other errors.
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
	return fmt.Errorf("%w (and %d more errors in other ConfigMaps with samples)", first, others)
}

// shardOf returns the shard of all samples of a node type. It must never change: otherwise,
// stored samples would be in the wrong ConfigMap.
func shardOf(nodeType string) int {
	h := fnv.New32a()
	h.Write([]byte(nodeType))
	return int(h.Sum32() % Shards)
}

// name returns the name of a shard's ConfigMap.
func (c *Config) name(shard int) string { return c.Prefix + strconv.Itoa(shard) }
