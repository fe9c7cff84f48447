package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// Options are the options of one container.
type Options struct {
	History   history.Options
	Recommend recommend.Options
	// Containers is how many containers share the floor of the pod.
	Containers int
	// Replicas means that several pods of the same version exist.
	Replicas bool
}

const (
	// late is how long after a measurement a source usually delivers it: it is read, stored and
	// cached on its way. Each read includes this time.
	late = 5 * time.Minute
	// rereading is how often the time in which samples may be overdue is read again. A Prometheus
	// sends them to a remote storage up to two hours late, after an outage of either.
	rereading = history.Overdue - 2*time.Hour
	// batch is how many samples are taken at a time, while others wait for the store. A source may
	// deliver days of a cluster, which would not fit in memory.
	batch = 10_000
	// step is how much time one read of a source covers, so that a read of many days is not lost
	// when it ends early.
	step = 6 * time.Hour
)

// Store collects usage and publishes what containers need.
type Store struct {
	lookup  Lookup
	options func(history.Container) Options
	table   atomic.Pointer[Table]
	// ratios has the names of the sets of ratios under which each container was last recommended.
	ratios atomic.Pointer[map[history.Container][]string]

	trends trends

	mu      sync.Mutex
	history *history.History
	sources []reading
	// resets is how often SetProgress was called.
	resets  int
	waiting waiting
}

// reading is how far a source has been read.
type reading struct {
	Status
	// reread is when the time in which samples are overdue was last read again.
	reread time.Time
}

// Status is the status of a source.
type Status struct {
	Name string
	// Read is until when the source has been read; zero if it has not.
	Read time.Time
	// Newest is when its newest sample was taken; zero without one.
	Newest time.Time
	// Counted and Rejected are the numbers of its samples that counted, and that cannot count. Waiting is
	// the number of samples whose pods are not known yet. None of them has repeated samples, or samples of a
	// source that stands by.
	Counted, Rejected, Waiting int
	// Err is why the last read failed, or ErrIncomplete with what is missing; nil if it has read
	// everything.
	Err error
}

// New returns a store without history. The functions are called often and must not block. The sources
// are their names. If several of them measure a container, the first one is preferred.
func New(lookup Lookup, options func(history.Container) Options, sources ...string) *Store {
	s := &Store{lookup: lookup, options: options, trends: trends{book: trend.NewBook()}, waiting: newWaiting()}
	for _, name := range sources {
		s.sources = append(s.sources, reading{Status: Status{Name: name}})
	}
	s.history = history.New(func(c history.Container) history.Options { return options(c).History })
	s.table.Store(&Table{})
	s.ratios.Store(&map[history.Container][]string{})
	return s
}

// Table returns the newest table.
func (s *Store) Table() *Table { return s.table.Load() }

// Collect reads what a source has measured since its last successful read, or since the given time
// at first. It also reads the time in which measurements were late, and after an error all of the
// same time again: repeated samples do not count. Even then, it reads the newest time, since an
// older one may fail for good. After ErrIncomplete, it continues with the next time, and reads again
// only if there was no sample at all.
func (s *Store) Collect(ctx context.Context, source Source, first, now time.Time) error {
	rank := slices.IndexFunc(s.sources, func(r reading) bool { return r.Name == source.Name() })
	if rank < 0 {
		return fmt.Errorf("read usage from %s: it is not one of the sources of the store", source.Name())
	}
	s.mu.Lock()
	since, again := s.sources[rank].since(first, now)
	resets := s.resets
	waited, expired := s.waiting.takeAll(now)
	s.reject(expired)
	for _, w := range waited {
		s.take(w, now)
	}
	s.mu.Unlock()
	var incomplete error
	delivered := 0
	for until := since; ; since = until {
		if until = until.Add(step); until.After(now) {
			until = now
		}
		n, err := s.collect(ctx, source, rank, since, until, now)
		missing := errors.Is(err, ErrIncomplete)
		if err != nil && !missing {
			if until.Before(now) {
				newest := slices.MaxFunc([]time.Time{until, now.Add(-history.Overdue)}, time.Time.Compare)
				_, _ = s.collect(ctx, source, rank, newest, now, now)
			}
			s.note(rank, resets, time.Time{}, err)
			return err
		}
		incomplete = cmp.Or(incomplete, err)
		if delivered += n; !missing || delivered > 0 {
			s.note(rank, resets, until, incomplete)
		} else {
			s.note(rank, resets, time.Time{}, incomplete)
		}
		if !until.Before(now) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if again && s.resets == resets {
		s.sources[rank].reread = now
	}
	return incomplete
}

// collect takes the samples of some of the time that Collect reads. It returns how many there are.
func (s *Store) collect(ctx context.Context, source Source, rank int, since, until, now time.Time) (delivered int, err error) {
	var arrived []Sample
	take := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delivered += len(arrived)
		r := &s.sources[rank]
		for _, sample := range arrived {
			sample.Rank = uint8(rank)
			if r.Newest.Before(sample.At) && !sample.At.After(now) {
				r.Newest = sample.At
			}
			s.take(waiter{sample, now}, now)
		}
		arrived = arrived[:0]
	}
	err = source.Read(ctx, since, until, func(sample Sample) {
		if arrived = append(arrived, sample); len(arrived) == batch {
			take()
		}
	})
	take()
	if err != nil {
		err = fmt.Errorf("read usage from %s: %w", source.Name(), err)
	}
	return delivered, err
}

// note notes until when a source has been read, unless that is zero, and what was wrong. If SetProgress
// was called since the read began, some of what was read may have been replaced.
func (s *Store) note(rank, resets int, read time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.sources[rank]
	r.Err = err
	if s.resets == resets && r.Read.Before(read) {
		r.Read = read
	}
}

// since returns the beginning of the time to read, and whether it includes samples that are overdue.
func (r *reading) since(first, now time.Time) (since time.Time, again bool) {
	if r.Read.After(now.Add(late)) { // The clock was ahead, nobody knows for how long: nothing was read then.
		r.Read = time.Time{}
	}
	if r.Read.IsZero() {
		return first, true
	}
	if r.Read.After(now) {
		r.Read = now
	}
	if since = r.Read.Add(-late); now.Sub(r.reread) >= rereading {
		since, again = r.Read.Add(-history.Overdue), true
	}
	if since.Before(first) {
		since = first
	}
	return since, again
}

// Sources returns the status of each source, the preferred one first.
func (s *Store) Sources() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Status, len(s.sources))
	for i, r := range s.sources {
		all[i] = r.Status
	}
	for i := range s.waiting.samples {
		all[s.waiting.samples[i].Rank].Waiting++
	}
	return all
}

// take counts a sample, or keeps it until its pod is known.
func (s *Store) take(w waiter, now time.Time) {
	identity, known := s.lookup(w.Namespace, w.Name, w.UID)
	if !known {
		s.reject(s.waiting.add(w))
		return
	}
	of := &s.sources[w.Rank]
	if identity.Workload == (Workload{}) || identity.predates(&w.Sample) {
		of.Rejected++
		return
	}
	w.Pod = identity.Pod
	err := s.history.Record(container(identity.Workload, w.Container), w.Sample.Sample, now)
	switch {
	case err == nil:
		of.Counted++
	case !errors.Is(err, history.ErrRepeated) && !errors.Is(err, history.ErrStandby):
		of.Rejected++
	}
}

// reject notes that samples cannot count.
func (s *Store) reject(all []waiter) {
	for i := range all {
		s.sources[all[i].Rank].Rejected++
	}
}

// predates reports whether a sample is of an earlier pod with the same name. The names of a
// StatefulSet's pods recur, so the first interval of such a pod may have both, unless the source
// tells them apart.
func (i *Identity) predates(s *Sample) bool {
	if i.Workload.Kind == "StatefulSet" && s.UID == "" {
		return s.At.Add(-s.Length).Before(i.Created)
	}
	return s.At.Before(i.Created)
}

// container returns the key of a container of a workload.
func container(w Workload, name string) history.Container {
	return history.Container{Namespace: w.Namespace, Kind: w.Kind, Workload: w.Name, Name: name}
}

// Kill counts a kill of a container, as the pod with that UID reports it. A kill that was counted
// changes nothing.
func (s *Store) Kill(namespace, pod, name string, k history.Kill, now time.Time) error {
	identity, known := s.lookup(namespace, pod, k.UID)
	if !known {
		return fmt.Errorf("pod %s/%s is not known", namespace, pod)
	}
	if identity.Workload == (Workload{}) {
		return fmt.Errorf("pod %s/%s has no workload", namespace, pod)
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

// Harm counts a size that made a container worse. A harm that was counted changes nothing, nor does one of a pod that is
// not known, or has no workload.
func (s *Store) Harm(namespace, pod, name string, h history.Harm, now time.Time) error {
	identity, known := s.lookup(namespace, pod, h.UID)
	if !known || identity.Workload == (Workload{}) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Pod = identity.Pod
	return s.history.RecordHarm(container(identity.Workload, name), h, now)
}

// Ran counts that a pod of a workload with this version has ended with success, if its usage is known. A run that was counted
// changes nothing.
func (s *Store) Ran(w Workload, name, uid string, version uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.RecordRun(container(w, name), uid, version)
}

// Ended releases what is known of a pod that no longer exists. What it used stays.
func (s *Store) Ended(w Workload, name, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.Forget(container(w, name), uid)
}

// Follow notes which version the pods of each container were created from.
func (s *Store) Follow(version func(history.Container) history.Version) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.history.Containers() {
		s.history.Follow(c, version(c))
	}
}
