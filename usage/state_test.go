package usage

import (
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/test/footprint"
	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

func TestState(t *testing.T) {
	f := newFixture(t)
	f.collect(Collected{Counted: 2}, cpu(began.Add(-time.Minute), 1000), cpu(began, 3000))
	table := f.Publish(uniform, f.now)
	form := f.AppendState([]byte("x"), key)[1:]
	t.Run("is all that a new store needs to recommend the same", func(t *testing.T) {
		g, state := newFixture(t), NewState()
		if err := state.Add(form, began); err != nil {
			t.Fatal(err)
		}
		g.Restore(state)
		if names := g.Ratios(key); !slices.Equal(names, []string{"all"}) {
			t.Errorf("sets of ratios %v", names)
		}
		want, _ := table.Demand(Key{key, "all"})
		got, _ := g.Publish(uniform, f.now).Demand(Key{key, "all"})
		if got.Target != want.Target || got.Lower != want.Lower || got.Upper != want.Upper || got.CPUConfidence != want.CPUConfidence {
			t.Errorf("%+v, want %+v", got, want)
		}
		g.collect(Collected{}, cpu(began, 3000)) // It counts already.
		if again := g.AppendState(nil, key); !slices.Equal(again, form) {
			t.Error("the state has changed")
		}
	})
	t.Run("replaces what the store knows of the container, and nothing else", func(t *testing.T) {
		g, state := newFixture(t), NewState()
		other := web
		other.Workload.Name = "other"
		g.known["shop/other-1"] = other
		sample := cpu(began, 7000)
		sample.Name = "other-1"
		g.collect(Collected{Counted: 2}, cpu(began, 9000), sample)
		if err := state.Add(form, began); err != nil {
			t.Fatal(err)
		}
		g.Restore(state)
		if n := len(g.Containers()); n != 2 || !slices.Equal(g.AppendState(nil, key), form) {
			t.Errorf("%d containers", n)
		}
	})
	t.Run("is empty without a history", func(t *testing.T) {
		if got := newFixture(t).AppendState([]byte("x"), key); string(got) != "x" {
			t.Errorf("%q", got)
		}
	})
	t.Run("is rejected if it is cut, or continues", func(t *testing.T) {
		for n := range form {
			if err := NewState().Add(form[:n], began); err == nil {
				t.Errorf("%d of %d bytes", n, len(form))
			}
		}
		if err := NewState().Add(append(slices.Clone(form), 0), began); err == nil {
			t.Error("a byte too many")
		}
	})
	t.Run("takes little memory, whatever it says", func(t *testing.T) {
		names := append([]byte{255, 255, 63}, make([]byte, 1<<20)...)
		footprint.CheckAllocated(t, len(names)/2, func() {
			if err := NewState().Add(names, began); err == nil {
				t.Error("no error")
			}
		})
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

// FuzzState checks that any bytes are rejected or form a state that can be used, and take little memory.
func FuzzState(f *testing.F) {
	options := func(history.Container) Options {
		return Options{History: history.DefaultOptions(), Recommend: recommend.DefaultOptions(), Containers: 1}
	}
	known := func(string, string, string) (Identity, bool) { return web, true }
	store := New(known, options, "script")
	source := &script{samples: []Sample{cpu(began.Add(-time.Minute), 1000), cpu(began, 3000)}}
	if err := store.Collect(f.Context(), source, began.Add(-time.Hour), began); err != nil {
		f.Fatal(err)
	}
	store.Publish(uniform, began)
	f.Add(store.AppendState(nil, key))
	f.Fuzz(func(t *testing.T, form []byte) {
		state := NewState()
		var err error
		footprint.CheckAllocated(t, len(form), func() { err = state.Add(form, began) })
		if err != nil {
			return
		}
		s := New(known, options, "script")
		s.Restore(state)
		if err := s.Collect(t.Context(), source, began.Add(-time.Hour), began); err != nil {
			t.Error(err)
		}
		table := s.Publish(uniform, began)
		for _, c := range s.Containers() {
			if r, known := table.Demand(Key{c, "all"}); known && (r.Target.CPU < 0 || r.Target.Memory < 0 || r.Target.CPU > 2e6) {
				t.Errorf("%+v", r.Target)
			}
			if err := NewState().Add(s.AppendState(nil, c), began); err != nil {
				t.Errorf("it cannot be read again: %v", err)
			}
		}
	})
}
