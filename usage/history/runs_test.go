package history

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// runs are the runs of the container on a node type.
func (f *fixture) runs(nodeType string) []RunDay {
	v, _ := f.View(web, f.clock)
	for _, t := range v.Types {
		if t.NodeType == nodeType {
			return t.Runs
		}
	}
	return nil
}

// run records a sample of each resource at a time, and that the pod has ended with success.
func (f *fixture) run(p Pod, at time.Time, usage int64) {
	f.Helper()
	f.cpu(p, at, 100)
	f.memory(p, at, usage)
	f.RecordRun(web, p.UID, 0)
}

func TestRuns(t *testing.T) {
	today := dayOf(began)
	want := func(t *testing.T, f *fixture, all ...RunDay) {
		t.Helper()
		if got := f.runs(slow.NodeType); !slices.EqualFunc(got, all, func(a, b RunDay) bool {
			near := a.Peak >= b.Peak && float64(a.Peak) <= 1.001*float64(b.Peak)
			a.Peak = b.Peak
			return a == b && near
		}) {
			t.Errorf("%v, want %v", got, all)
		}
	}
	t.Run("count once", func(t *testing.T) {
		f := newFixture(t)
		for minute := range 3 {
			f.run(slow, began.Add(time.Duration(minute)*time.Minute), 300*mib)
		}
		want(t, f, RunDay{today, 1, 0, 300 * mib})
	})
	t.Run("of each type of node are its own", func(t *testing.T) {
		f := newFixture(t)
		f.run(slow, began, 300*mib)
		f.run(fast, began, 500*mib)
		want(t, f, RunDay{today, 1, 0, 300 * mib})
	})
	t.Run("prove nothing unless both resources were measured", func(t *testing.T) {
		f := newFixture(t)
		f.RecordRun(web, slow.UID, 0)
		f.cpu(slow, began, 100)
		f.RecordRun(web, slow.UID, 0)
		f.memory(fast, began, 300*mib)
		f.RecordRun(web, fast.UID, 0)
		f.kill(Kill{Pod: Pod{UID: "killed", NodeType: slow.NodeType}, At: began, Limit: 300 * mib})
		f.RecordRun(web, "killed", 0)
		want(t, f)
		f.memory(slow, began, 300*mib)
		f.RecordRun(web, slow.UID, 0)
		want(t, f, RunDay{today, 1, 0, 300 * mib})
	})
	t.Run("have known peaks if a source measures them", func(t *testing.T) {
		f := newFixture(t)
		f.run(slow, began, 300*mib)
		second := Pod{"c", slow.NodeType}
		at := began.Add(time.Hour)
		if err := f.Record(web, Sample{Pod: second, Resource: Memory, At: at, Length: time.Minute, Usage: 400 * mib}, f.now(at)); err != nil {
			t.Fatal(err)
		}
		f.cpu(second, at, 100)
		f.RecordRun(web, second.UID, 0)
		want(t, f, RunDay{today, 2, 1, 400 * mib})
		f.run(Pod{"d", slow.NodeType}, at, 200*mib) // On its node, none does.
		want(t, f, RunDay{today, 3, 1, 400 * mib})
	})
	t.Run("use what is measured late, too", func(t *testing.T) {
		f := newFixture(t)
		f.run(slow, began, 300*mib)
		f.memory(slow, began.Add(time.Minute), 400*mib)
		f.memory(fast, began.Add(time.Minute), 500*mib)
		want(t, f, RunDay{today, 1, 0, 400 * mib})
	})
	t.Run("are known of ten days, however far apart", func(t *testing.T) {
		f := newFixture(t)
		var all []RunDay
		for week := range 12 {
			at := began.Add(time.Duration(week) * 7 * 24 * time.Hour)
			f.run(Pod{fmt.Sprint(week), slow.NodeType}, at, int64(1000-week)*mib)
			f.Expire(at)
			all = slices.Insert(all, 0, RunDay{dayOf(at), 1, 0, int64(1000-week) * mib})
		}
		want(t, f, all[:RunDays]...)
	})
	t.Run("count in any order of days", func(t *testing.T) {
		f := newFixture(t)
		for i, day := range []int{3, 1, 3, 2, 1} {
			at := began.Add(time.Duration(day) * 24 * time.Hour)
			f.cpu(Pod{fmt.Sprint(i), slow.NodeType}, at, 100)
			f.memory(Pod{fmt.Sprint(i), slow.NodeType}, at, int64(100*i+100)*mib)
		}
		for i := range 5 {
			f.RecordRun(web, fmt.Sprint(i), 0)
		}
		want(t, f, RunDay{today + 3, 2, 0, 300 * mib}, RunDay{today + 2, 1, 0, 400 * mib}, RunDay{today + 1, 2, 0, 500 * mib})
	})
	t.Run("of another version prove nothing", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 100)
		f.memory(slow, began, 300*mib)
		f.Follow(web, Version{Hash: 1})
		f.RecordRun(web, slow.UID, 2)
		want(t, f)
		f.RecordRun(web, slow.UID, 1)
		want(t, f, RunDay{today, 1, 0, 300 * mib})
		f.Follow(web, Version{Hash: 2, Since: began})
		want(t, f)
		f.RecordRun(web, slow.UID, 1)
		f.RecordRun(web, slow.UID, 2)
		want(t, f)
	})
	t.Run("of a clock that was ahead are of today", func(t *testing.T) {
		f := newFixture(t)
		f.run(slow, began.Add(48*time.Hour), 300*mib)
		f.clock = began
		f.run(Pod{"c", slow.NodeType}, began, 100*mib)
		want(t, f, RunDay{today, 2, 0, 300 * mib})
	})
	t.Run("that cannot be true cannot be restored", func(t *testing.T) {
		for _, wrong := range [][]RunDay{{{Day: -1}}, {{Runs: 1, Peaks: 2}}, {{Peaks: -1}}, {{Peak: -1}}, {{Peak: most + 1}}, {{Day: 1}, {Day: 2}}, make([]RunDay, RunDays+1)} {
			f, g := newFixture(t), newFixture(t)
			f.run(slow, began, 300*mib)
			state := f.State(web)
			state.Types[0].Runs = wrong
			if err := g.Restore(web, state, began); err == nil {
				t.Errorf("%v", wrong)
			}
		}
	})
}

// TestRandomRuns lets pods end in any order, with and without success, on random days, while each of them is told again and again.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 2))
		f := newFixture(t)
		type ended struct {
			Pod
			at      time.Time
			success bool
		}
		var all []ended
		runs, peaks := map[int32]int32{}, map[int32]int64{}
		for i := range 60 {
			p := ended{Pod{fmt.Sprint(seed, i), slow.NodeType}, began.Add(time.Duration(random.IntN(20*24)) * time.Hour), random.IntN(3) > 0}
			all = append(all, p)
		}
		slices.SortFunc(all, func(a, b ended) int { return a.at.Compare(b.at) })
		for i, p := range all {
			usage := int64(1+random.IntN(1000)) * mib
			f.cpu(p.Pod, p.at, 100)
			f.memory(p.Pod, p.at, usage)
			if p.success {
				day := dayOf(p.at)
				runs[day], peaks[day] = runs[day]+1, max(peaks[day], usage)
			}
			for range random.IntN(4) {
				if other := all[random.IntN(i+1)]; other.success {
					f.RecordRun(web, other.UID, 0)
				}
			}
			if p.success {
				f.RecordRun(web, p.UID, 0)
			}
			if random.IntN(10) == 0 {
				g := newFixture(t)
				g.clock = f.clock
				if err := g.Restore(web, f.State(web), f.clock); err != nil {
					t.Fatal(err)
				}
				f = g
			}
		}
		days := slices.Sorted(maps.Keys(runs))
		slices.Reverse(days)
		got := f.runs(slow.NodeType)
		if len(got) != min(len(days), RunDays) {
			t.Fatalf("seed %d: %v, want %v", seed, got, days)
		}
		for i, d := range got {
			if d.Day != days[i] || d.Runs != runs[d.Day] || d.Peak < peaks[d.Day] || float64(d.Peak) > 1.001*float64(peaks[d.Day]) {
				t.Errorf("seed %d: %v, want %d runs with %d bytes", seed, d, runs[d.Day], peaks[d.Day])
			}
		}
	}
}
