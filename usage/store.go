package usage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Options are the options of one container.
type Options struct {
	History   history.Options
	Recommend recommend.Options
	// Containers is how many containers share the floor of the pod.
	Containers int
}

const (
	// patience is how long samples of a pod that is not known yet are kept.
	patience = 10 * time.Minute
	// mostWaiting is how many such samples are kept at most: one a minute of each container in
	// a large cluster.
	mostWaiting = 200_000
	// late is how long after a measurement a source may deliver it: it is read, stored and
	// cached on its way.
	late = 5 * time.Minute
	// batch is how many samples are taken at a time, while others wait for the store. A source may
	// deliver days of a cluster, which would not fit in memory.
	batch = 10_000
)

// Store collects usage and publishes what containers need.
type Store struct {
	lookup  Lookup
	options func(history.Container) Options
	table   atomic.Pointer[Table]

	mu      sync.Mutex
	history *history.History
	// read is until when each source has been read.
	read map[string]time.Time
	// waiting has samples whose pods are not known yet, in the order of arrival, and held has
	// the same samples, which may arrive again.
	waiting []waiting
	held    map[Sample]bool
}

// waiting is a sample and when it arrived.
type waiting struct {
	Sample
	arrived time.Time
}

// New returns a store without history. The functions are called often and must not block.
func New(lookup Lookup, options func(history.Container) Options) *Store {
	s := &Store{lookup: lookup, options: options, read: map[string]time.Time{}, held: map[Sample]bool{}}
	s.history = history.New(func(c history.Container) history.Options { return options(c).History })
	s.table.Store(&Table{})
	return s
}

// Table returns the newest table.
func (s *Store) Table() *Table { return s.table.Load() }

// Collected counts what came of samples.
type Collected struct {
	// Counted is the number of samples that count now, Waiting that of samples whose pod is
	// not known yet, and Rejected that of samples that cannot count.
	Counted, Waiting, Rejected int
}

// Collect reads what a source has measured since its last successful read, or since the given time
// at first. It also reads the time in which measurements were late, and after an error all of the
// same time again: repeated samples do not count.
func (s *Store) Collect(ctx context.Context, source Source, first, now time.Time) (Collected, error) {
	s.mu.Lock()
	since, known := s.read[source.Name()]
	s.mu.Unlock()
	if since = since.Add(-late); !known {
		since = first
	}
	var c Collected
	s.mu.Lock()
	s.retry(now, &c)
	s.mu.Unlock()
	arrived := make([]Sample, 0, batch)
	take := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, sample := range arrived {
			s.take(waiting{sample, now}, now, &c)
		}
		arrived = arrived[:0]
	}
	err := source.Read(ctx, since, now, func(sample Sample) {
		if arrived = append(arrived, sample); len(arrived) == batch {
			take()
		}
	})
	take()
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Waiting = len(s.waiting)
	if err != nil {
		return c, fmt.Errorf("read usage from %s: %w", source.Name(), err)
	}
	s.read[source.Name()] = now
	return c, nil
}

// retry takes the samples that wait for their pods. Those that have waited too long are rejected.
func (s *Store) retry(now time.Time, c *Collected) {
	before := s.waiting
	s.waiting = nil
	clear(s.held)
	for _, w := range before {
		if now.Sub(w.arrived) > patience {
			c.Rejected++
			continue
		}
		s.take(w, now, c)
	}
}

// take counts a sample, or keeps it until its pod is known.
func (s *Store) take(w waiting, now time.Time, c *Collected) {
	identity, known := s.lookup(w.Namespace, w.Name)
	if !known {
		switch {
		case s.held[w.Sample]:
		case len(s.waiting) < mostWaiting:
			s.waiting = append(s.waiting, w)
			s.held[w.Sample] = true
		default:
			c.Rejected++
		}
		return
	}
	if w.At.Before(identity.Created) {
		c.Rejected++
		return
	}
	w.Pod = identity.Pod
	if err := s.history.Record(container(identity.Workload, w.Container), w.Sample.Sample, now); err == nil {
		c.Counted++
	} else if !errors.Is(err, history.ErrRepeated) {
		c.Rejected++
	}
}

// container returns the key of a container of a workload.
func container(w Workload, name string) history.Container {
	return history.Container{Namespace: w.Namespace, Kind: w.Kind, Workload: w.Name, Name: name}
}

// Kill counts a kill of a container, as its pod reports it. A kill that was counted changes nothing.
func (s *Store) Kill(namespace, pod, name string, k history.Kill, now time.Time) error {
	identity, known := s.lookup(namespace, pod)
	if !known {
		return fmt.Errorf("pod %s/%s is not known", namespace, pod)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k.Pod = identity.Pod
	err := s.history.RecordKill(container(identity.Workload, name), k, now)
	if errors.Is(err, history.ErrRepeated) {
		return nil
	}
	return err
}

// Ended releases what is known of a pod that no longer exists. What it used stays.
func (s *Store) Ended(w Workload, name, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.Forget(container(w, name), uid)
}

// Publish expires old history, and publishes what containers need under each set of ratios. The
// revision grows only if a size has changed.
func (s *Store) Publish(sets []Ratios, now time.Time) *Table {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.Expire(now)
	demands := map[Key]recommend.Recommendation{}
	for _, c := range s.history.Containers() {
		options := s.options(c)
		view, _ := s.history.View(c, now)
		for _, set := range sets {
			if r, ok := recommend.For(recommend.NewDemand(view, set.Speeds), options.Containers, &options.Recommend, now); ok {
				demands[Key{c, set.Name}] = r
			}
		}
	}
	old := s.table.Load()
	next := &Table{Revision: old.Revision, demands: demands}
	if !same(old.demands, demands) {
		next.Revision++
	}
	s.table.Store(next)
	return next
}
