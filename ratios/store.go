package ratios

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/internal/broadcast"
	"github.com/workload-resizer/workload-resizer/policy"
)

// Store merges the layers of its providers into a Table. All methods are safe for concurrent
// use.
type Store struct {
	providers []Provider
	now       func() time.Time
	table     atomic.Pointer[Table]

	mu      sync.Mutex
	sources []source
	// problem is the error of the last merge, or that its table waits for a source;
	// nil if it is in effect, or while there is none.
	problem error
	changes broadcast.Broadcast
}

type source struct {
	layer    *Layer
	reported bool
	err      error
	idle     func(policy.Cluster) bool
	lastGood time.Time
}

// NewStore returns a store of these providers, in order of precedence. It is empty until Run.
func NewStore(providers ...Provider) *Store {
	return &Store{providers: providers, now: time.Now, sources: make([]source, len(providers))}
}

// Run runs the providers until ctx is done or one of them fails.
func (s *Store) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make(chan error, len(s.providers))
	for i, p := range s.providers {
		go func() {
			err := p.Run(ctx, func(u Update) { s.take(ctx, i, u) })
			if err != nil {
				err = fmt.Errorf("ratio source %s: %w", p.Name(), err)
				cancel()
			}
			errs <- err
		}()
	}
	var all []error
	for range s.providers {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// take records an update from provider i.
func (s *Store) take(ctx context.Context, i int, u Update) {
	logger := klog.FromContext(ctx).WithValues("source", s.providers[i].Name())
	s.mu.Lock()
	defer s.mu.Unlock()

	src := &s.sources[i]
	src.reported = true
	src.err, src.idle = u.Err, u.Idle
	switch {
	case u.Err == nil:
		src.layer, src.lastGood = u.Layer, s.now()
	case src.layer == nil:
		logger.Error(u.Err, "Ratio source unavailable; waiting for it")
	default:
		logger.Error(u.Err, "Ratio source unavailable; its last good state stays in effect")
	}
	s.rebuild(ctx)
	s.changes.Notify()
}

// rebuild merges the layers again. There is no table until every source has been good once, or is
// idle: otherwise, a lower layer could take effect although a missing one overrides it.
func (s *Store) rebuild(ctx context.Context) {
	layers := make([]*Layer, len(s.sources))
	for i := range s.sources {
		if src := &s.sources[i]; src.layer == nil && src.idle == nil {
			return
		}
		layers[i] = s.sources[i].layer
	}
	t, err := Merge(layers)
	s.problem = err
	if err != nil {
		return
	}
	if missing := s.missing(t); missing != "" {
		if s.table.Load() != nil {
			s.problem = fmt.Errorf("other sources, such as the configuration, change nothing until ratio source %s can be read", missing)
		}
		return
	}
	before := s.table.Swap(t)
	if before == nil || before.Revision != t.Revision {
		klog.FromContext(ctx).Info("New ratios", "revision", t.Revision, "baseline", t.Baseline, "nodeTypes", t.NodeTypes(), "rules", len(t.profiles)-1)
		if err := t.ImplausibleRatios(); err != nil {
			klog.FromContext(ctx).Error(err, "Node types not used")
		}
	}
}

// missing returns the first source whose layer is missing, but might change ratios; "" if none is.
func (s *Store) missing(t *Table) string {
	i := slices.IndexFunc(s.sources, func(src source) bool { return src.layer == nil && !src.idle(t.Cluster) })
	if i < 0 {
		return ""
	}
	return s.providers[i].Name()
}

// Table returns the current table; nil while there is none.
func (s *Store) Table() *Table { return s.table.Load() }

// Ready returns the current table, or an error that explains why there is none.
func (s *Store) Ready() (*Table, error) {
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// A table may have been stored since. Under the lock, the table and the
	// problems are consistent.
	if t := s.table.Load(); t != nil {
		return t, nil
	}
	return nil, s.problems()
}

// Watch returns a channel that receives a value after every change to the table or to a
// source's state. Changes that arrive faster than they are received are combined.
func (s *Store) Watch() <-chan struct{} { return s.changes.Watch() }

// SourceStatus is the state of one source.
type SourceStatus struct {
	Name string
	// Err is the problem with the source; nil if its current state is in the table.
	Err error
	// LastGood is when the store accepted the state that is in the table; zero
	// if there has been none.
	LastGood time.Time
}

var errNotReported = errors.New("not read yet")

// Sources returns the state of every source, in order of precedence.
func (s *Store) Sources() []SourceStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses()
}

func (s *Store) statuses() []SourceStatus {
	status := make([]SourceStatus, len(s.sources))
	for i, src := range s.sources {
		err := src.err
		if !src.reported {
			err = errNotReported
		}
		status[i] = SourceStatus{Name: s.providers[i].Name(), Err: err, LastGood: src.lastGood}
	}
	return status
}

// Problem returns everything that is wrong with the ratios as one error; nil if nothing is
// wrong. While there is no table, the error is never nil.
func (s *Store) Problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problems()
}

func (s *Store) problems() error {
	var problems []error
	for _, src := range s.statuses() {
		if src.Err != nil {
			problems = append(problems, fmt.Errorf("ratio source %s: %w", src.Name, src.Err))
		}
	}
	if s.problem != nil {
		problems = append(problems, s.problem)
	}
	return errors.Join(problems...)
}
