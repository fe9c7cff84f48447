package usage

import (
	"errors"
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

// Tree is the control groups of a node. *cgroup.Tree implements it.
type Tree interface {
	Containers() ([]cgroup.Container, error)
	// Read returns cgroup.ErrGone for a container that has ended.
	Read(cgroup.Container) (cgroup.Reading, error)
}

// longestPause is how long the time between two samples can be. What happened in a longer time, for
// example while the node slept, belongs to no minute.
const longestPause = 2 * time.Minute

// Sampler collects the usages of a node. It is not safe for concurrent use.
type Sampler struct {
	tree Tree
	// windows are the running containers by the directories of their groups.
	windows map[string]*window
	// ended are the usages of containers that have ended.
	ended []Usage
	// urgent are usages that must not wait for the end of the period.
	urgent []Usage
	// scan counts the samples, and at is when the last one was taken.
	scan uint64
	at   time.Time
}

// NewSampler returns a sampler of the containers in a tree.
func NewSampler(tree Tree) *Sampler { return &Sampler{tree: tree, windows: map[string]*window{}} }

// Len returns how many containers the last sample found.
func (s *Sampler) Len() int { return len(s.windows) }

// Sample reads all containers. An error means that some could not be read; the others count.
func (s *Sampler) Sample() error {
	now := time.Now()
	containers, err := s.tree.Containers()
	if err != nil {
		return err
	}
	if now.Sub(s.at) > longestPause {
		s.windows, s.at = map[string]*window{}, time.Time{}
	}
	s.scan++
	var failed []error
	for _, c := range containers {
		r, err := s.tree.Read(c)
		switch {
		case errors.Is(err, cgroup.ErrGone):
			continue
		case err != nil:
			failed = append(failed, err)
		default:
			s.add(c, now, r)
		}
		if w := s.windows[c.Dir]; w != nil {
			w.scan = s.scan
		}
	}
	s.end()
	s.at = now
	if len(failed) > 0 {
		return fmt.Errorf("read %d of %d containers: %w", len(failed), len(containers), failed[0])
	}
	return nil
}

func (s *Sampler) add(c cgroup.Container, now time.Time, r cgroup.Reading) {
	w := s.windows[c.Dir]
	switch {
	case w != nil:
		if u, ok := w.hurry(&w.last, w.at, now, &r); ok {
			s.urgent = append(s.urgent, u)
		}
		w.add(now, r)
	case s.at.IsZero():
		s.windows[c.Dir] = begin(c, now, r)
	default:
		s.windows[c.Dir] = beginAtCreation(c, s.at, now, r)
	}
}

// end ends the windows of containers that the last sample did not find.
func (s *Sampler) end() {
	for dir, w := range s.windows {
		if w.scan == s.scan {
			continue
		}
		if u, ok := w.fold(); ok {
			s.ended = append(s.ended, u)
		}
		delete(s.windows, dir)
	}
}

// Urgent returns what must not wait for the next call of Fold: the memory of containers that may be about
// to be killed. Fold returns all of it again.
func (s *Sampler) Urgent() []Usage {
	urgent := s.urgent
	s.urgent = nil
	return urgent
}

// Fold returns what the containers have used since the last call, including those that have ended.
func (s *Sampler) Fold() []Usage {
	usages := s.ended
	s.ended = nil
	for _, w := range s.windows {
		if u, ok := w.fold(); ok {
			usages = append(usages, u)
		}
	}
	return usages
}
