package history

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// text returns all that is known of a container.
func (f *fixture) text() string {
	var b strings.Builder
	r := f.State(web)
	if r == nil {
		return ""
	}
	for _, s := range r.Types {
		fmt.Fprintf(&b, "%+v\n", *s)
		if s.Pressed != nil {
			fmt.Fprintf(&b, "pressed %+v\n", *s.Pressed)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Windows)) {
		fmt.Fprintf(&b, "%d: %+v\n", id, *r.Windows[id])
	}
	return b.String()
}

func TestState(t *testing.T) {
	t.Run("is nil without a history", func(t *testing.T) {
		if got := newFixture(t).State(web); got != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("replaces what is known of the container", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.cpu(slow, began, 100)
		f.memory(fast, began.Add(time.Hour), 100e6)
		g.cpu(Pod{UID: "c", NodeType: "n4"}, began, 900)
		want := f.text()
		if err := g.Restore(web, f.State(web), began.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if got := g.text(); got != want || !g.newest.Equal(began.Add(time.Hour)) {
			t.Errorf("newest sample at %v\n%s\nwant\n%s", g.newest, got, want)
		}
	})
	t.Run("has windows that count on their node types", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.memory(slow, began, 100e6)
		f.memory(fast, began, 100e6)
		r := f.State(web)
		for _, w := range r.Windows {
			w.series = nil
		}
		if err := g.Restore(web, r, began); err != nil {
			t.Fatal(err)
		}
		g.memory(slow, began.Add(time.Minute), 500e6)
		g.want("n2d", "511M:100")
		g.want("c3", "110M:100")
	})
	t.Run("of a clock that was ahead does not expire others", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.cpu(slow, began.Add(time.Hour), 100)
		if err := g.Restore(web, f.State(web), began); err != nil || !g.newest.IsZero() {
			t.Errorf("newest %v, %v", g.newest, err)
		}
	})
	t.Run("may have any number of samples, the last hours, and the highest peaks", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 1)
		r := f.State(web)
		r.Types[0].Samples, r.Types[0].Hours[Memory] = math.MaxInt, Hours{First: latest, Last: latest / 3600}
		w := r.Windows[IDOf(slow.UID)]
		w.Peak, w.Past.KillPeak, w.CPU = most, most, make([]Progress, mostSources)
		if err := newFixture(t).Restore(web, r, began); err != nil {
			t.Error(err)
		}
	})
	for name, change := range map[string]func(r *State, s *Series, w *Window){
		"no half-life of CPU":               func(r *State, _ *Series, _ *Window) { r.Shapes.CPU.HalfLife = 0 },
		"a negative half-life of memory":    func(r *State, _ *Series, _ *Window) { r.Shapes.Memory.HalfLife = -1 },
		"a first hour before 1970":          func(_ *State, s *Series, _ *Window) { s.Hours[CPU].First = -1 },
		"a first hour that no sample has":   func(_ *State, s *Series, _ *Window) { s.Hours[Memory].First = latest + 1 },
		"a last hour before 1970":           func(_ *State, s *Series, _ *Window) { s.Hours[peaks].Last = math.MinInt64 },
		"a last hour that no sample has":    func(_ *State, s *Series, _ *Window) { s.Hours[peaks].Last = latest/3600 + 1 },
		"a negative number of samples":      func(_ *State, s *Series, _ *Window) { s.Samples = -1 },
		"a node type twice":                 func(r *State, _ *Series, _ *Window) { r.Types = append(r.Types, r.Types[1]) },
		"node types that are not in order":  func(r *State, _ *Series, _ *Window) { slices.Reverse(r.Types) },
		"a negative peak of an hour of CPU": func(_ *State, s *Series, _ *Window) { s.Week.CPU[167] = -1 },
		"a peak of an hour of memory":       func(_ *State, s *Series, _ *Window) { s.Week.Memory[0] = most + 1 },
		"a negative peak":                   func(_ *State, _ *Series, w *Window) { w.Peak = -1 },
		"a peak above the most":             func(_ *State, _ *Series, w *Window) { w.KillPeak = most + 1 },
		"a past peak above the most":        func(_ *State, _ *Series, w *Window) { w.Past.Peak = most + 1 },
		"a negative past peak":              func(_ *State, _ *Series, w *Window) { w.Past.KillPeak = -1 },
		"a window on an unknown node type":  func(_ *State, _ *Series, w *Window) { w.NodeType = "n4" },
		"too many sources":                  func(_ *State, _ *Series, w *Window) { w.CPU = make([]Progress, mostSources+1) },
	} {
		t.Run("is rejected with "+name+", and changes nothing", func(t *testing.T) {
			f, g := newFixture(t), newFixture(t)
			f.options.Hours = true
			f.cpu(slow, began, 1)
			f.memory(fast, began, 1)
			r := f.State(web)
			change(r, r.Types[0], r.Windows[IDOf(slow.UID)])
			if err := g.Restore(web, r, began); !errors.Is(err, ErrState) || g.Len() != 0 || !g.newest.IsZero() {
				t.Errorf("%v, %d containers", err, g.Len())
			}
		})
	}
}
