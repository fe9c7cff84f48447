package push

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/usage"
)

// Name is the name of the source.
const Name = "push"

// Most is how many samples are kept at most: those of all containers of a large cluster for a minute.
// A read every few seconds finds a small part of that.
const Most = 300_000

// MostOfOne is how many of them may be from one sender, so that it cannot take the place of all others.
// A node agent that was cut off for minutes has fewer.
const MostOfOne = Most / 10

// ErrFull is returned for samples that there is no room for.
var ErrFull = errors.New("more usage has arrived than was read")

// Source is a source of usage that others push. All methods are safe for concurrent use.
type Source struct {
	mu sync.Mutex
	// pushes are in the order of their arrival, and held is how many samples they have, by sender.
	pushes []push
	held   *fair.Pool[struct{}]
}

// push has samples that a sender has pushed in one call.
type push struct {
	sender  string
	share   *fair.Share[struct{}]
	samples []usage.Sample
}

// New returns a source without samples.
func New() *Source {
	return &Source{held: fair.NewPool[struct{}](fair.Limits{All: Most, PerOrigin: MostOfOne})}
}

// Name implements usage.Source.
func (s *Source) Name() string { return Name }

// Push adds samples of a sender, which must have a name, for the next read: all of them, or none if there is no
// room. Those of a pod's container and resource must be in the order of time. The caller must not change the
// samples after that.
func (s *Source) Push(sender string, samples []usage.Sample) error {
	if len(samples) == 0 {
		return nil
	}
	share := new(fair.Share[struct{}])
	s.mu.Lock()
	defer s.mu.Unlock()
	if full := s.held.Take(share, fair.Key{Origin: sender}, len(samples)); full != nil {
		return ErrFull
	}
	if cap(samples) > 2*len(samples) {
		samples = slices.Clone(samples) // The rest of the memory would not be counted.
	}
	s.pushes = append(s.pushes, push{sender, share, samples})
	return nil
}

// Read implements usage.Source. It passes each sample once, however old it is: an agent sends what it
// could not send before. Samples that are too new stay.
func (s *Source) Read(ctx context.Context, _, until time.Time, observe func(usage.Sample)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	all := s.pushes
	s.pushes = nil
	for _, p := range all {
		p.share.Release()
	}
	s.mu.Unlock()
	// The order of those that stay must not change, even if others have arrived in the meantime.
	if stay := after(until, all); len(stay) > 0 {
		s.mu.Lock()
		s.pushes = append(stay, s.pushes...)
		for _, p := range stay {
			s.held.Add(p.share, fair.Key{Origin: p.sender}, len(p.samples))
		}
		s.mu.Unlock()
	}
	for i, p := range all {
		for j := range p.samples {
			if !p.samples[j].At.After(until) {
				observe(p.samples[j])
			}
		}
		all[i] = push{} // A minute of a large cluster need not stay in memory until its end has been read.
	}
	return nil
}

// after returns the samples that were taken after a time.
func after(t time.Time, all []push) (later []push) {
	for _, p := range all {
		earlier := func(s usage.Sample) bool { return !s.At.After(t) }
		if slices.ContainsFunc(p.samples, earlier) {
			stay := slices.DeleteFunc(slices.Clone(p.samples), earlier)
			p.samples = slices.Clone(stay) // In no more memory than is counted.
		}
		if len(p.samples) > 0 {
			later = append(later, p)
		}
	}
	return later
}
