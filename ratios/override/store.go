package override

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/internal/follow"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// Source is the name of this source.
const Source = "override"

// Store watches the overrides in a ConfigMap, and changes them. All methods are safe for
// concurrent use.
type Store struct {
	clock    clock.Clock
	readOnly bool
	onReject func(*corev1.ConfigMap, error)
	document *document.Document[content]
	// expired receives when overrides have expired whose expiry is not stored yet.
	expired chan struct{}

	mu sync.Mutex
	// report is nil unless the store runs.
	report func(ratios.Update)
	// now is the last good content, as of the last expiry; nil until there is one.
	now *content
}

var _ ratios.Provider = (*Store)(nil)

// Option changes how New sets up a Store.
type Option func(*Store)

// WithClock replaces the real clock.
func WithClock(c clock.Clock) Option { return func(s *Store) { s.clock = c } }

// OnReject calls reject with invalid content and what is wrong with it; reject must not block.
func OnReject(reject func(*corev1.ConfigMap, error)) Option {
	return func(s *Store) { s.onReject = reject }
}

// ReadOnly makes all changes that are not only validated return ErrReadOnly.
func ReadOnly() Option { return func(s *Store) { s.readOnly = true } }

// New returns a store of the overrides in a ConfigMap. The client must be allowed
// to list, watch, get and update it, and must not limit the duration of a watch.
func New(client kubernetes.Interface, namespace, name string, opts ...Option) *Store {
	s := &Store{clock: clock.RealClock{}, expired: make(chan struct{}, 1), onReject: func(*corev1.ConfigMap, error) {}}
	for _, set := range opts {
		set(s)
	}
	s.document = document.New(document.Config[content]{
		Source:   follow.ConfigMap{Client: client, Namespace: namespace, Name: name},
		Noun:     noun,
		ReadOnly: s.readOnly,
		Clock:    s.clock,
		Parse:    parse,
		Accept:   s.accept,
		Reject:   func(_ context.Context, err error) { s.tell(ratios.Update{Err: err}) },
		OnReject: s.onReject,
	})
	return s
}

// Name implements ratios.Provider.
func (s *Store) Name() string { return Source }

// Run implements ratios.Provider. A ConfigMap that is missing from the start has no overrides.
// If the ConfigMap is deleted later, its overrides stay in effect.
func (s *Store) Run(ctx context.Context, report func(ratios.Update)) error {
	s.reportTo(report)
	defer s.reportTo(nil)
	ctx, cancel := context.WithCancel(ctx)
	var recording sync.WaitGroup
	defer recording.Wait()
	defer cancel()
	recording.Go(func() { s.recordExpiries(ctx) })
	return s.document.Run(ctx)
}

// Overrides returns the overrides in effect by node type, which must not be modified. The error
// explains why they are not known.
func (s *Store) Overrides() (map[string]Override, error) {
	c, err := s.current()
	return c.overrides, err
}

// current returns the content in effect, or an error if there is none.
func (s *Store) current() (content, error) {
	err := s.document.Err()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return content{}, err
	}
	return *s.now, nil
}

// Missing returns an error if no override can be stored because the ConfigMap does not exist,
// and no override is in effect. Otherwise, and for a read-only store, it returns nil.
func (s *Store) Missing() error { return s.document.Missing() }

func (s *Store) reportTo(report func(ratios.Update)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
}

// accept puts the overrides that have not expired into effect. A writer gets no response before
// they are reported.
func (s *Store) accept(_ context.Context, c content) document.InForce {
	now := c.at(s.clock.Now())
	s.mu.Lock()
	s.now = &now
	s.mu.Unlock()
	s.tell(ratios.Update{Layer: Layer(now.overrides)})
	if len(now.changes) > len(c.changes) {
		select {
		case s.expired <- struct{}{}:
		default: // A pending signal covers this expiry, too.
		}
	}
	return document.InForce{Count: len(now.overrides), Expires: nextExpiry(now.overrides)}
}

func (s *Store) tell(u ratios.Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil {
		s.report(u)
	}
}

// second returns the time, to the second.
func (s *Store) second() time.Time { return s.clock.Now().UTC().Truncate(time.Second) }
