package usage

import (
	"fmt"
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/trend"
)

// State is what is known of some containers.
type State struct {
	history *history.History
	ratios  map[history.Container][]string
	// Trends is the book of the subjects that About selects; nil if it is not known.
	Trends *trend.Book
	About  func(trend.Subject) bool
}

// NewState returns a state without containers.
func NewState() *State {
	return &State{history: history.New(nil), ratios: map[history.Container][]string{}}
}

// Add adds a container: its history, which must not be used after that, and under which sets of ratios
// it was last recommended.
func (s *State) Add(c history.Container, h *history.State, ratios []string, now time.Time) error {
	if err := s.history.Restore(c, h, now); err != nil {
		return fmt.Errorf("container %s of %s %s/%s: %w", c.Name, c.Kind, c.Namespace, c.Workload, err)
	}
	s.ratios[c] = ratios
	return nil
}

// Containers returns the containers that have a history, in no particular order.
func (s *Store) Containers() []history.Container {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.Containers()
}

// Len returns how many containers have a history.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.Len()
}

// Read calls a function with the history of a container, which must not be changed or kept, and with the
// names of the sets of ratios under which it was last recommended. It does not without a history. The
// store is locked for one container only, so that storing all of them holds up nobody.
func (s *Store) Read(c history.Container, do func(h *history.State, ratios []string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.history.State(c); h != nil {
		return do(h, s.Ratios(c))
	}
	return nil
}

// Restore replaces what is known of the containers of a state, which must not be used after that.
func (s *Store) Restore(state *State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.Take(state.history)
	ratios := maps.Clone(*s.ratios.Load())
	maps.Copy(ratios, state.ratios)
	s.ratios.Store(&ratios)
}

// Ratios returns the names of the sets of ratios under which a container was last recommended, so
// that a workload whose pods are gone keeps its recommendation. The functions that the store calls may
// call it.
func (s *Store) Ratios(c history.Container) []string { return (*s.ratios.Load())[c] }

// Progress returns until when each source has been read. Sources that have not are not in it.
func (s *Store) Progress() map[string]time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	progress := map[string]time.Time{}
	for _, r := range s.sources {
		if !r.Read.IsZero() {
			progress[r.Name] = r.Read
		}
	}
	return progress
}

// SetProgress sets until when each source has been read. A source without a time is read from its
// beginning. A Collect that runs does not change it.
func (s *Store) SetProgress(progress map[string]time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resets++
	for i := range s.sources {
		r := &s.sources[i]
		r.Read, r.reread = progress[r.Name], time.Time{}
	}
}
