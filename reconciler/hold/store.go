package hold

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Store follows the holds in a ConfigMap and the freeze in another one, and changes them. All
// methods are safe for concurrent use at any time.
type Store struct {
	clock      clock.Clock
	readOnly   bool
	onReject   func(*corev1.ConfigMap, error)
	freezeName string
	looker     kubernetes.Interface
	document   *document.Document[[]keyed]
	freeze     *freezeFollower

	// mu protects held, the holds in effect without the freeze; nil until they are known.
	mu   sync.Mutex
	held *Table
	// table has both; nil until both are known.
	table   atomic.Pointer[Table]
	changes broadcast.Broadcast
}

// Option changes how New sets up a Store.
type Option func(*Store)

// WithClock replaces the real clock.
func WithClock(c clock.Clock) Option { return func(s *Store) { s.clock = c } }

// OnReject sets a function that receives invalid content; it must not block.
func OnReject(reject func(*corev1.ConfigMap, error)) Option {
	return func(s *Store) { s.onReject = reject }
}

// ReadOnly makes Put, Release and Prune return ErrReadOnly, and Freeze and Unfreeze
// ErrFreezeReadOnly; CheckPut and CheckRelease still work.
func ReadOnly() Option { return func(s *Store) { s.readOnly = true } }

// FreezeIn replaces the default name of the ConfigMap that freezes the cluster, which is
// in the namespace of the holds.
func FreezeIn(name string) Option { return func(s *Store) { s.freezeName = name } }

// LookWith sets the client that reads the freeze before writes, which must not wait for a rate
// limit. By default, that is the client of the store.
func LookWith(client kubernetes.Interface) Option { return func(s *Store) { s.looker = client } }

// New returns a store of the holds in a ConfigMap, which are unknown until Run. The client
// must be allowed to list, watch, get and patch the ConfigMap, and to list, watch, get,
// create, patch and delete the ConfigMap that freezes the cluster. It must not limit the
// duration of a watch.
func New(client kubernetes.Interface, namespace, name string, opts ...Option) *Store {
	s := &Store{clock: clock.RealClock{}, onReject: func(*corev1.ConfigMap, error) {}, freezeName: contract.DefaultNames.Freeze, looker: client}
	for _, set := range opts {
		set(s)
	}
	s.document = document.New(document.Config[[]keyed]{
		Source:   follow.ConfigMap{Client: client, Namespace: namespace, Name: name},
		Noun:     noun,
		ReadOnly: s.readOnly,
		Clock:    s.clock,
		Parse:    new(reader).read,
		Accept:   s.accept,
		Reject:   s.reject,
		OnReject: s.onReject,
	})
	s.freeze = newFreezeFollower(follow.ConfigMap{Client: client, Namespace: namespace, Name: s.freezeName}, s.clock, s.combine)
	s.freeze.looker = s.looker
	return s
}

// Run follows the ConfigMaps until ctx is done; then it returns nil. A ConfigMap for holds
// that is missing from the start has no holds.
func (s *Store) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	following := make(chan error, 1)
	go func() {
		defer cancel()
		following <- s.freeze.run(ctx)
	}()
	err := s.document.Run(ctx)
	cancel()
	return errors.Join(err, <-following)
}

// Ready returns the table in effect, or why there is none: until both ConfigMaps are read for
// the first time, the pods that must not be resized are unknown.
func (s *Store) Ready() (*Table, error) {
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	err := errors.Join(s.Err(), s.FreezeErr())
	if t := s.table.Load(); t != nil {
		return t, nil // It was read just now.
	}
	return nil, err
}

// Err returns why the holds in effect differ from the current ConfigMap, or why they are
// unknown. It returns nil if neither is the case.
func (s *Store) Err() error { return unquote(s.document.Err()) }

// FreezeErr returns why the server cannot read whether the cluster is frozen; nil if it can.
func (s *Store) FreezeErr() error { return s.freeze.problem() }

// Missing returns an error if no hold can be stored because the ConfigMap does not exist,
// and no hold is in effect. Otherwise, and for a read-only store, it returns nil.
func (s *Store) Missing() error { return s.document.Missing() }

// Watch returns a channel that receives after every change to the table, to Err or to
// FreezeErr. Changes that happen faster than they are received are merged into one. The table remains the same
// pointer unless the holds in effect have changed.
func (s *Store) Watch() <-chan struct{} { return s.changes.Watch() }

// combine puts the holds and the freeze into effect, once both are known.
func (s *Store) combine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changes.Notify()
	freeze, err := s.freeze.state()
	if s.held == nil || err != nil {
		return
	}
	if before := s.table.Load(); before == nil || before.unfrozen != s.held || before.freeze != freeze {
		s.table.Store(s.held.Frozen(freeze))
	}
}

// accept applies the holds that have not expired.
func (s *Store) accept(ctx context.Context, all []keyed) document.InForce {
	inForce := live(all, s.clock.Now())
	now := NewTable(inForce)
	s.mu.Lock()
	if s.held == nil || !slices.Equal(s.held.holds, now.holds) || !slices.Equal(s.held.resets, now.resets) {
		s.held = now
		klog.FromContext(ctx).Info("Holds changed", "holds", len(now.holds))
	}
	s.mu.Unlock()
	s.combine()
	return document.InForce{Count: len(now.holds), Expires: nextExpiry(inForce)}
}

// reject leaves the last good holds in effect.
func (s *Store) reject(ctx context.Context, err error) {
	if s.table.Load() == nil {
		klog.FromContext(ctx).Error(err, "Holds cannot be read; no pod is resized until they can be read")
	} else {
		klog.FromContext(ctx).Error(err, "Holds cannot be read; the last good holds stay in effect")
	}
	s.changes.Notify()
}
