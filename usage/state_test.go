package usage

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

func TestState(t *testing.T) {
	f := newFixture(t)
	f.collect(Collected{Counted: 2}, cpu(began.Add(-time.Minute), 1000), cpu(began, 3000))
	table := f.Publish(uniform, f.now)
	// stored returns the state of the container in f.
	stored := func(t *testing.T) *State {
		t.Helper()
		state := NewState()
		err := f.Read(key, func(h *history.State, ratios []string) error {
			return state.Add(key, h, ratios, began)
		})
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	t.Run("is all that a new store needs to recommend the same", func(t *testing.T) {
		g := newFixture(t)
		g.Restore(stored(t))
		if names := g.Ratios(key); !slices.Equal(names, []string{"all"}) {
			t.Errorf("sets of ratios %v", names)
		}
		want, _ := table.Demand(Key{key, "all"})
		got, _ := g.Publish(uniform, f.now).Demand(Key{key, "all"})
		if got.Target != want.Target || got.Lower != want.Lower || got.Upper != want.Upper || got.CPUConfidence != want.CPUConfidence {
			t.Errorf("%+v, want %+v", got, want)
		}
		g.collect(Collected{}, cpu(began, 3000)) // It counts already.
	})
	t.Run("replaces what the store knows of the container, and nothing else", func(t *testing.T) {
		g := newFixture(t)
		other := web
		other.Workload.Name = "other"
		g.known["shop/other-1"] = other
		sample := cpu(began, 7000)
		sample.Name = "other-1"
		g.collect(Collected{Counted: 2}, cpu(began, 9000), sample)
		g.Restore(stored(t))
		want, _ := table.Demand(Key{key, "all"})
		if got, _ := g.Publish(uniform, g.now).Demand(Key{key, "all"}); len(g.Containers()) != 2 || got.Target != want.Target {
			t.Errorf("%d containers, %+v, want %+v", len(g.Containers()), got.Target, want.Target)
		}
	})
	t.Run("is not read without a history", func(t *testing.T) {
		if err := newFixture(t).Read(key, func(*history.State, []string) error { return errors.New("it is") }); err != nil {
			t.Error(err)
		}
	})
	t.Run("is rejected if no history has it, and names the container", func(t *testing.T) {
		if err := NewState().Add(key, &history.State{Shapes: history.ShapesOf(0, 0)}, nil, began); !errors.Is(err, history.ErrState) || !strings.Contains(err.Error(), key.Workload) {
			t.Error(err)
		}
	})
	t.Run("keeps the sets of ratios of a container that has none now", func(t *testing.T) {
		f.Publish(func(history.Container) []Ratios { return nil }, f.now)
		if names := f.Ratios(key); !slices.Equal(names, []string{"all"}) {
			t.Errorf("sets of ratios %v", names)
		}
	})
	t.Run("is not read on by a read that began before", func(t *testing.T) {
		g := newFixture(t)
		source := interval(func(_, _ time.Time, observe func(Sample)) error {
			observe(cpu(began, 1000))
			g.SetProgress(map[string]time.Time{"script": began.Add(-time.Hour)}) // Another leader has stored less.
			return nil
		})
		if err := g.Collect(t.Context(), source, began.Add(-2*time.Hour), g.now); err != nil {
			t.Error(err)
		}
		if read := g.Sources()[0].Read; !read.Equal(began.Add(-time.Hour)) {
			t.Errorf("read until %v", read)
		}
	})
	t.Run("is read on from where the source was read until then", func(t *testing.T) {
		g := newFixture(t)
		if p := g.Progress(); len(p) != 0 {
			t.Errorf("read until %v", p)
		}
		g.SetProgress(map[string]time.Time{"script": began, "another": began})
		if p := g.Progress(); len(p) != 1 || !p["script"].Equal(began) {
			t.Errorf("read until %v", p)
		}
		g.now = began.Add(time.Hour)
		g.collect(Collected{})
		if want := began.Add(-time.Hour); g.source.since.Before(want) || g.source.since.After(began) {
			t.Errorf("read from %v", g.source.since)
		}
		g.SetProgress(nil)
		if p := g.Progress(); len(p) != 0 {
			t.Errorf("read until %v", p)
		}
	})
}
