package checkpoint

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/usage"
)

// Config configures a Keeper. All fields must be set, except Companion.
type Config struct {
	// Client must be allowed to get, create, patch and delete the ConfigMaps of Names.
	Client    corev1client.ConfigMapsGetter
	Namespace string
	// Prefix is the beginning of the names of the ConfigMaps.
	Prefix string
	// Labels are the labels of the ConfigMaps, and FieldManager is who writes them.
	Labels       map[string]string
	FieldManager string
	// Interval is how often each shard is written if it has changed.
	Interval time.Duration
	Clock    clock.WithTicker
	// Companion is stored with the history.
	Companion Companion
}

const (
	// Interval is the default of Config.Interval.
	Interval = 10 * time.Minute
	// writes is how many writes there are in an interval at most, of one leader.
	writes = 60
	// full is the size at which the number of shards grows, and fullest what they may have if it
	// cannot: the API server accepts 1 MiB.
	full    = 700 << 10
	fullest = 1_000_000
	// period is how often Run looks whether there is something to do.
	period = time.Second
	// patience is how long one request may take.
	patience = 20 * time.Second
)

// Keeper stores the state of a store of usage and reads it. All methods are safe for concurrent use, but
// Run must be called only once.
type Keeper struct {
	config Config
	// full, fullest and roomiest are the constants, except in tests.
	full, fullest, roomiest int

	packer packer
	// packed has the progress of sources that was packed last.
	packed map[string]time.Time
	// last is when the newest shard that is known was written, and count how many shards the
	// leader writes.
	last  time.Time
	count int
	// tried is the header of the last write without an answer, which may have succeeded.
	tried header
	// incomplete reports whether the last load failed for a ConfigMap. When that is read later, it may
	// be older than what was read, so all of them are then passed to the store again, in order.
	incomplete bool
	// failures are why the leader could not write each shard, and retry is when it may try again.
	failures [most]error
	retry    [most]time.Time
	// led reports whether this replica led when Run last looked.
	led bool
	// pause ends when the leader may write again, or when others read again.
	pause time.Time

	// taken notifies of each time that the store was passed what is stored.
	taken broadcast.Broadcast

	mu sync.Mutex
	// known has the ConfigMaps by name.
	known map[string]*stored
	// caughtUp reports whether this replica leads and has read all shards since then.
	caughtUp bool
	// hasRead reports whether this replica has read all shards since it started.
	hasRead bool
	// trouble is why the last read or write failed, or nil.
	trouble error
}

// stored is what is known of a ConfigMap.
type stored struct {
	header
	name            string
	uid             types.UID
	resourceVersion string
	progress        map[string]time.Time
	// unknown is what a later version has stored, which this one does not know.
	unknown []byte
	sum     sum
	// size is the number of bytes, and containers the number of containers.
	size, containers int
	// trends are those that are stored with it, without their bytes unless a later version wrote them, and trendsErr is why they
	// cannot be read.
	trends    trends
	trendsErr error
	// companion is what is stored of Config.Companion.
	companion companion
	// current is when the content was last known to equal the leader's.
	current time.Time
	// err is why it cannot be read. Then only what identifies the ConfigMap is known.
	err error
}

// bytes returns the size of a ConfigMap.
func (c *stored) bytes() int { return c.size + c.trends.size + c.companion.size }

// New returns a keeper that has read nothing.
func New(config Config) *Keeper {
	return &Keeper{config: config, full: full, fullest: fullest, roomiest: roomiest, known: map[string]*stored{}}
}

// Run keeps the ConfigMaps and the store equal until ctx is done. While this replica leads, it writes
// what has changed; otherwise, it reads what the leader has written.
func (k *Keeper) Run(ctx context.Context, store *usage.Store, leading func() bool) {
	ticker := k.config.Clock.NewTicker(period)
	defer ticker.Stop()
	reported := ""
	for {
		k.do(ctx, store, leading)
		text := ""
		if err := k.Status().Err; err != nil {
			text = err.Error()
		}
		if text != reported && text != "" && ctx.Err() == nil {
			klog.FromContext(ctx).Error(nil, "The history of usage was not stored or read completely", "reason", text)
		}
		reported = text
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// CaughtUp reports whether this replica leads and knows all that earlier leaders have stored. Only
// then may it collect usage: it would otherwise miss what the earlier leader has counted, and
// Run would replace what it counts.
func (k *Keeper) CaughtUp() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.caughtUp
}

// HasRead reports whether this replica, leading or not, has read what is stored. Before that, nobody knows what is missing.
func (k *Keeper) HasRead() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hasRead
}

// do does what is due.
func (k *Keeper) do(ctx context.Context, store *usage.Store, leading func() bool) {
	now := k.config.Clock.Now()
	leads := leading()
	if leads != k.led {
		k.led, k.pause = leads, time.Time{}
		k.setCaughtUp(false)
	}
	switch {
	case now.Before(k.pause):
	case !leads:
		names := k.names()
		k.report(k.load(ctx, store, names, cached))
		if len(k.names()) <= len(names) { // Otherwise, there are more shards than were known.
			k.pause = now.Add(k.patient())
		}
	case !k.CaughtUp():
		k.pause = now.Add(k.config.Interval / writes)
		k.report(k.begin(ctx, store))
	default:
		k.report(k.write(ctx, store, leading, now))
	}
}

// patient returns how long a replica that does not lead waits before it reads again: not long while it
// knows nothing that it could show.
func (k *Keeper) patient() time.Duration {
	for _, c := range k.shards() {
		if c.containers > 0 {
			return k.config.Interval / 2
		}
	}
	return k.config.Interval / writes
}

// Watch returns a channel that receives each time that Run has passed the store what is stored.
func (k *Keeper) Watch() <-chan struct{} { return k.taken.Watch() }

// begin reads all that earlier leaders have stored.
func (k *Keeper) begin(ctx context.Context, store *usage.Store) error {
	if err := k.load(ctx, store, Names(k.config.Prefix), newest); err != nil {
		return err
	}
	k.count, k.failures, k.retry, k.pause = 1, [most]error{}, [most]time.Time{}, time.Time{}
	if shards := k.shards(); len(shards) > 0 {
		k.count = shards[0].count
	}
	k.setCaughtUp(true)
	return nil
}

func (k *Keeper) setCaughtUp(caughtUp bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.caughtUp = caughtUp
}

func (k *Keeper) report(err error) {
	k.mu.Lock()
	k.trouble = err
	k.hasRead = k.hasRead || err == nil
	k.mu.Unlock()
	k.tellCompanion()
}

// Status is the state of a Keeper.
type Status struct {
	// Shards has the ConfigMaps, in the order of Names.
	Shards []Shard
	// Stored is the earliest Stored of all shards that can be read; zero without any.
	Stored time.Time
	// Err is why the last attempt to read or to write was not complete; nil if it was.
	Err error
}

// Shard is one ConfigMap.
type Shard struct {
	Name string
	// Stored is when it was written, or when the leader last saw that nothing had changed.
	Stored time.Time
	// Bytes is its size, with trends and Config.Companion, and Containers the number of containers.
	Bytes, Containers int
	// Err is why it cannot be read, or nil.
	Err error
}

// Status returns the state that this process knows.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	var s Status
	errs := []error{k.trouble}
	for _, name := range Names(k.config.Prefix) {
		c := k.known[name]
		if c == nil {
			continue
		}
		errs = append(errs, c.err, c.trendsFault(k.config.Namespace), k.companionFault(c))
		s.Shards = append(s.Shards, Shard{Name: c.name, Stored: c.current, Bytes: c.bytes(), Containers: c.containers, Err: c.err})
		if c.err == nil && (s.Stored.IsZero() || c.current.Before(s.Stored)) {
			s.Stored = c.current
		}
	}
	s.Err = join(errs...)
	return s
}
