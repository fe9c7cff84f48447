package usage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// State is what is known of some containers, read from bytes.
type State struct {
	history *history.History
	ratios  map[history.Container][]string
}

// NewState returns a state without containers.
func NewState() *State {
	return &State{history: history.New(nil), ratios: map[history.Container][]string{}}
}

// Add adds a container whose state AppendState wrote. After an error, the state must not be used.
func (s *State) Add(form []byte, now time.Time) error {
	sets, rest, err := readNames(form)
	if err != nil {
		return err
	}
	c, rest, err := s.history.ReadContainer(rest, now)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("container %s of %s %s/%s: %d bytes too many", c.Name, c.Kind, c.Namespace, c.Workload, len(rest))
	}
	s.ratios[c] = sets
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

// AppendState appends what is known of a container to b, so that it can be stored: its history, and
// under which sets of ratios it was last recommended. It appends nothing without a history. The store
// is locked for one container only, so that storing all of them holds up nobody.
func (s *Store) AppendState(b []byte, c history.Container) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(b)
	b = appendNames(b, s.Ratios(c))
	names := len(b)
	if b = s.history.AppendContainer(b, c); len(b) == names {
		return b[:before]
	}
	return b
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

// appendNames appends the number of names, and each with its length.
func appendNames(b []byte, names []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	for _, name := range names {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	return b
}

// errNames is returned for bytes that appendNames does not write.
var errNames = errors.New("the names of the sets of ratios cannot be read")

// readNames reads what appendNames wrote, and returns the bytes after it.
func readNames(b []byte) (names []string, rest []byte, err error) {
	number := func() (n uint64, ok bool) {
		n, used := binary.Uvarint(b)
		if used <= 0 {
			return 0, false
		}
		b = b[used:]
		return n, n <= uint64(len(b))
	}
	n, ok := number()
	if ok && n > 0 {
		names = make([]string, 0, n)
	}
	for ; ok && n > 0; n-- {
		var length uint64
		if length, ok = number(); ok {
			names, b = append(names, string(b[:length])), b[length:]
		}
	}
	if !ok {
		return nil, nil, errNames
	}
	return names, b, nil
}
