package history

import (
	"testing"
	"time"
)

func TestPeaks(t *testing.T) {
	const day = 24 * time.Hour
	highest := func(f *fixture, now time.Time) int64 {
		f.Helper()
		view, ok := f.View(web, now)
		if !ok {
			f.Fatal("no history")
		}
		return view.Types[0].Peaks.Highest(now)
	}
	near := func(got, want int64) bool { return got >= want && got <= 1+want+want/1000 }
	t.Run("of all pods count for eight days, even of those that have ended", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 500*mib)
		f.memory(Pod{UID: "c", NodeType: slow.NodeType}, began.Add(time.Hour), 900*mib)
		f.Forget(web, "c")
		f.memory(slow, began.Add(day), 400*mib)
		for after, want := range map[time.Duration]int64{day: 900 * mib, 7 * day: 900 * mib, 8 * day: 400 * mib, 9 * day: 0} {
			if got := highest(f, began.Add(after)); !near(got, want) {
				t.Errorf("%d bytes after %v, want %d", got, after, want)
			}
		}
	})
	t.Run("are the limit of a container that was killed, not what the kill leads to", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		f.kill(Kill{Pod: slow, At: began, Limit: 1000 * mib, Request: 1000 * mib})
		if got := highest(f, began); !near(got, 1000*mib) {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("are what an evicted container used", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		f.kill(Kill{Pod: slow, At: began, Limit: 1000 * mib, Usage: 300 * mib})
		if got := highest(f, began); !near(got, 300*mib) {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("of a clock that was ahead count as of now", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began.Add(20*day), 900*mib)
		f.clock = began
		f.memory(slow, began, 100*mib)
		if got := highest(f, began); !near(got, 900*mib) {
			t.Errorf("%d bytes", got)
		}
		if got := highest(f, began.Add(8*day)); got != 0 {
			t.Errorf("%d bytes after eight days", got)
		}
	})
	t.Run("that were not stored are no less than what was used", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.memory(slow, began, 900*mib)
		f.memory(slow, began.Add(day+time.Hour), 400*mib)
		r := f.State(web)
		r.Types[0].Peaks = Days{}
		if err := g.Restore(web, r, f.clock); err != nil {
			t.Fatal(err)
		}
		if got := highest(g, f.clock); got < 900*mib || got > 1000*mib {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("do not exist without a sample of memory", func(t *testing.T) {
		f, g := newFixture(t), newFixture(t)
		f.cpu(slow, began, 100)
		if err := g.Restore(web, f.State(web), began); err != nil {
			t.Fatal(err)
		}
		if got := highest(g, began); got != 0 {
			t.Errorf("%d bytes", got)
		}
	})
}
