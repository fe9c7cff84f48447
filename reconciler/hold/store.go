package hold

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// Store follows the holds in a ConfigMap, and changes them. All methods may be
// called at any time from any goroutine.
type Store struct {
	source   follow.ConfigMap
	clock    clock.Clock
	readOnly bool
	onReject func(*corev1.ConfigMap, error)
	table    atomic.Pointer[Table]
	// rearm receives when another hold may be the next to expire.
	rearm chan struct{}
	// writing makes this process's writes come one at a time.
	writing sync.Mutex

	mu sync.Mutex
	// holds are those of the last good content, expired ones too.
	holds []Hold
	// known is the state that holds or err come from.
	known   known
	err     error
	watches []chan struct{}
}

// Option changes how New sets up a Store.
type Option func(*Store)

// WithClock replaces the real clock.
func WithClock(c clock.Clock) Option { return func(s *Store) { s.clock = c } }

// OnReject has reject told of content that is bad; it must not block.
func OnReject(reject func(*corev1.ConfigMap, error)) Option {
	return func(s *Store) { s.onReject = reject }
}

// ReadOnly makes Put, Release, what checks them, and Prune return ErrReadOnly.
func ReadOnly() Option { return func(s *Store) { s.readOnly = true } }

var errNotRead = errors.New("holds are not read yet")

// New returns a store of the holds in a ConfigMap. It knows none until Run. The
// client must be allowed to list, watch, get and update the ConfigMap, and must
// not bound the time of a watch.
func New(client kubernetes.Interface, namespace, name string, opts ...Option) *Store {
	s := &Store{
		source: follow.ConfigMap{Client: client, Namespace: namespace, Name: name},
		clock:  clock.RealClock{},
		rearm:  make(chan struct{}, 1),
		err:    errNotRead,

		onReject: func(*corev1.ConfigMap, error) {},
	}
	for _, set := range opts {
		set(s)
	}
	return s
}

// Run follows the ConfigMap until ctx is done; then it returns nil. A ConfigMap
// that is missing from the start has no holds.
func (s *Store) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var expiring sync.WaitGroup
	defer expiring.Wait()
	defer cancel()
	expiring.Go(func() { s.expire(ctx) })
	return s.source.Run(ctx, func(cm *corev1.ConfigMap, err error) { s.takeWatched(ctx, cm, err) })
}

// Ready returns the table in force, or why there is none: until the ConfigMap
// was read once, nobody knows what must be left alone.
func (s *Store) Ready() (*Table, error) {
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil {
		return t, nil // It came just now.
	}
	return nil, s.err
}

// Err says why the table in force is not what the ConfigMap says now, or why
// there is none; nil if all is well.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Watch returns a channel that receives after every change of the table or of
// Err; changes that come faster than they are received are one. The table is the
// same pointer as before unless holds in force have changed.
func (s *Store) Watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := make(chan struct{}, 1)
	s.watches = append(s.watches, w)
	return w
}

// refresh puts the holds in force that have not expired.
func (s *Store) refresh(ctx context.Context) {
	inForce := live(s.holds, s.clock.Now())
	if before := s.table.Load(); before == nil || !slices.Equal(before.holds, ordered(inForce)) {
		s.table.Store(NewTable(inForce))
		klog.FromContext(ctx).Info("New holds", "holds", len(inForce))
	}
	select {
	case s.rearm <- struct{}{}:
	default: // It will look at this change too.
	}
}

func (s *Store) notify() {
	for _, w := range s.watches {
		select {
		case w <- struct{}{}:
		default: // The watcher has not yet looked at the change before.
		}
	}
}

// live returns the holds that have not expired.
func live(holds []Hold, now time.Time) []Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.endedBy(now) })
}
