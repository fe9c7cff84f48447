package push

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

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
	mu      sync.Mutex
	samples []pushed
	// from has the number of samples of each sender.
	from map[string]int
}

// pushed is a sample and its sender.
type pushed struct {
	usage.Sample
	sender string
}

// New returns a source without samples.
func New() *Source { return &Source{from: map[string]int{}} }

// Name implements usage.Source.
func (s *Source) Name() string { return Name }

// Push adds samples of a sender for the next read: all of them, or none if there is no room. Those of a pod's
// container and resource must be in the order of time.
func (s *Source) Push(sender string, samples []usage.Sample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.samples)+len(samples) > Most || s.from[sender]+len(samples) > MostOfOne {
		return ErrFull
	}
	s.from[sender] += len(samples)
	for _, sample := range samples {
		s.samples = append(s.samples, pushed{sample, sender})
	}
	return nil
}

// Read implements usage.Source. It passes each sample once, however old it is: an agent sends what it
// could not send before. Samples that are too new stay.
func (s *Source) Read(ctx context.Context, _, until time.Time, observe func(usage.Sample)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	all := s.samples
	s.samples = nil
	clear(s.from)
	s.mu.Unlock()
	// The order of those that stay must not change, even if others have arrived in the meantime.
	stay := slices.DeleteFunc(slices.Clone(all), func(p pushed) bool { return !p.At.After(until) })
	if len(stay) > 0 {
		s.mu.Lock()
		s.samples = append(stay, s.samples...)
		for _, p := range stay {
			s.from[p.sender]++
		}
		s.mu.Unlock()
	}
	for _, p := range all {
		if !p.At.After(until) {
			observe(p.Sample)
		}
	}
	return nil
}
