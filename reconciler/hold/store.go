package hold

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// Store follows the holds in a ConfigMap, and changes them. All methods may be
// called at any time from any goroutine.
type Store struct {
	clock    clock.Clock
	readOnly bool
	onReject func(*corev1.ConfigMap, error)
	table    atomic.Pointer[Table]
	document *document.Document[[]Hold]
}

// Option changes how New sets up a Store.
type Option func(*Store)

// WithClock replaces the real clock.
func WithClock(c clock.Clock) Option { return func(s *Store) { s.clock = c } }

// OnReject has reject told of content that is bad; it must not block.
func OnReject(reject func(*corev1.ConfigMap, error)) Option {
	return func(s *Store) { s.onReject = reject }
}

// ReadOnly makes Put, Release and Prune return ErrReadOnly; what checks them goes on.
func ReadOnly() Option { return func(s *Store) { s.readOnly = true } }

// New returns a store of the holds in a ConfigMap. It knows none until Run. The
// client must be allowed to list, watch, get and update the ConfigMap, and must
// not bound the time of a watch.
func New(client kubernetes.Interface, namespace, name string, opts ...Option) *Store {
	s := &Store{clock: clock.RealClock{}, onReject: func(*corev1.ConfigMap, error) {}}
	for _, set := range opts {
		set(s)
	}
	s.document = document.New(document.Config[[]Hold]{
		Source:   follow.ConfigMap{Client: client, Namespace: namespace, Name: name},
		Noun:     noun,
		ReadOnly: s.readOnly,
		Clock:    s.clock,
		Parse:    parse,
		Accept:   s.accept,
		Reject:   s.reject,
		OnReject: s.onReject,
	})
	return s
}

// Run follows the ConfigMap until ctx is done; then it returns nil. A ConfigMap
// that is missing from the start has no holds.
func (s *Store) Run(ctx context.Context) error { return s.document.Run(ctx) }

// Ready returns the table in force, or why there is none: until the ConfigMap
// was read once, nobody knows what must be left alone.
func (s *Store) Ready() (*Table, error) {
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	err := s.document.Err()
	if t := s.table.Load(); t != nil {
		return t, nil // It came just now.
	}
	return nil, err
}

// Err says why the table in force is not what the ConfigMap says now, or why
// there is none; nil if all is well.
func (s *Store) Err() error { return s.document.Err() }

// Missing says that no hold can be stored, for there is no ConfigMap, while none is
// in force; nil otherwise, also where none may be stored at all.
func (s *Store) Missing() error { return s.document.Missing() }

// Watch returns a channel that receives after every change of the table or of
// Err; changes that come faster than they are received are one. The table is the
// same pointer as before unless holds in force have changed.
func (s *Store) Watch() <-chan struct{} { return s.document.Watch() }

// accept puts the holds in force that have not expired.
func (s *Store) accept(ctx context.Context, holds []Hold) document.InForce {
	inForce := live(holds, s.clock.Now())
	if before := s.table.Load(); before == nil || !slices.Equal(before.holds, ordered(inForce)) {
		s.table.Store(NewTable(inForce))
		klog.FromContext(ctx).Info("New holds", "holds", len(inForce))
	}
	return document.InForce{Count: len(inForce), Expires: nextExpiry(inForce)}
}

// reject leaves the last good holds in force.
func (s *Store) reject(ctx context.Context, err error) {
	if s.table.Load() == nil {
		klog.FromContext(ctx).Error(err, "Holds cannot be read, waiting for them")
	} else {
		klog.FromContext(ctx).Error(err, "Holds cannot be read, the last good ones stay in force")
	}
}

// live returns the holds that have not expired.
func live(holds []Hold, now time.Time) []Hold {
	return slices.DeleteFunc(slices.Clone(holds), func(h Hold) bool { return h.endedBy(now) })
}

// nextExpiry is when the next of the holds expires, zero if none does.
func nextExpiry(holds []Hold) time.Time {
	var next time.Time
	for _, h := range holds {
		if !h.Expires.IsZero() && (next.IsZero() || h.Expires.Before(next)) {
			next = h.Expires
		}
	}
	return next
}
