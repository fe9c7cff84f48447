package history

import (
	"errors"
	"testing"
	"time"
)

func TestFloors(t *testing.T) {
	const day = 24 * time.Hour
	floor := func(f *fixture, now time.Time) int64 {
		f.Helper()
		view, ok := f.View(web, now)
		if !ok {
			f.Fatal("no history")
		}
		_, limit := view.Types[0].Floors.Highest(Memory, now)
		return limit
	}
	near := func(got, want int64) bool { return got >= want && got <= 1+want+want/1000 }
	t.Run("a limit at which a container was killed is too small for eight days", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began, 100*mib)
		if got := floor(f, began); got != 0 {
			t.Errorf("%d bytes before a kill", got)
		}
		if err := f.RecordKill(web, Kill{Pod: slow, At: began, Limit: 1000 * mib, Request: 500 * mib}, began); err != nil {
			t.Fatal(err)
		}
		if got := floor(f, began.Add(7*day)); !near(got, 1200*mib) {
			t.Errorf("%d bytes after seven days", got)
		}
		if got := floor(f, began.Add(8*day)); got != 0 {
			t.Errorf("%d bytes after eight days", got)
		}
	})
	t.Run("nothing is proven by an eviction, an unknown limit, or in the VPA's mode", func(t *testing.T) {
		for name, kill := range map[string]Kill{"evicted": {Limit: 1000 * mib, Usage: 900 * mib}, "unknown": {}, "compat": {Limit: 1000 * mib, Request: 1000 * mib}} {
			f := newFixture(t)
			f.options.Compat = name == "compat"
			f.memory(slow, began, 100*mib)
			kill.Pod, kill.At = slow, began
			_ = f.RecordKill(web, kill, began)
			if got := floor(f, began); got != 0 {
				t.Errorf("%s: %d bytes", name, got)
			}
		}
	})
	t.Run("a size that was reverted is too small, however often it is reported", func(t *testing.T) {
		f := newFixture(t)
		f.cpu(slow, began, 100)
		for range 3 {
			if err := f.RecordHarm(web, Harm{Pod: slow, At: began, Resource: CPU, Request: 300, Limit: 600}, began); err != nil {
				t.Fatal(err)
			}
		}
		view, _ := f.View(web, began)
		if request, limit := view.Types[0].Floors.Highest(CPU, began); !near(request, 300) || !near(limit, 600) {
			t.Errorf("%d and %d millicores", request, limit)
		}
		if request, limit := view.Types[0].Floors.Highest(Memory, began); request != 0 || limit != 0 {
			t.Errorf("%d and %d bytes", request, limit)
		}
	})
	t.Run("a harm begins no history", func(t *testing.T) {
		f := newFixture(t)
		harm := Harm{Pod: slow, At: began, Request: 300}
		if err := f.RecordHarm(web, harm, began); err != nil || f.Len() != 0 {
			t.Errorf("%d histories, %v", f.Len(), err)
		}
		f.cpu(fast, began, 100)
		if err := f.RecordHarm(web, harm, began); err != nil || len(f.State(web).Types) != 1 || f.State(web).Types[0].Floors != nil {
			t.Errorf("%v, %v", f.State(web).Types, err)
		}
	})
	t.Run("what cannot be does not count", func(t *testing.T) {
		f := newFixture(t)
		for _, test := range []struct {
			harm Harm
			want error
		}{
			{Harm{Pod: slow, At: began, Request: -1}, ErrImplausible},
			{Harm{Pod: slow, At: began, Limit: most + 1}, ErrImplausible},
			{Harm{Pod: slow}, ErrTime},
			{Harm{Pod: slow, At: began.Add(Skew + 1)}, ErrFuture},
			{Harm{Pod: slow, At: began.Add(-8 * day)}, ErrExpired},
		} {
			if err := f.RecordHarm(web, test.harm, began); !errors.Is(err, test.want) {
				t.Errorf("%+v: %v", test.harm, err)
			}
		}
	})
	t.Run("those of a clock that was ahead expire", func(t *testing.T) {
		f := newFixture(t)
		f.memory(slow, began.Add(100*day), 100*mib)
		if err := f.RecordKill(web, Kill{Pod: slow, At: began.Add(100 * day), Limit: 1000 * mib}, began.Add(100*day)); err != nil {
			t.Fatal(err)
		}
		f.clock = time.Time{}
		f.memory(slow, began, 100*mib)
		if floor(f, began) == 0 || floor(f, began.Add(9*day)) != 0 {
			t.Errorf("%d bytes, and %d after nine days", floor(f, began), floor(f, began.Add(9*day)))
		}
	})
}
