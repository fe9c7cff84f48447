package backtest

import (
	"math"
	"reflect"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/headroom"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// life is a machine that needs and uses what the function says, hour by hour.
func life(hours int, of func(hour int) (needs headroom.Demand, cpu uint32)) *load {
	l := &load{}
	for hour := range hours {
		needs, cpu := of(hour)
		l.hours = append(l.hours, loadHour{int64(hour), needs})
		if hour%24 == 0 {
			l.days = append(l.days, loadDay{of: l, number: int64(hour / 24)})
		}
		for i := range slotsPerHour {
			l.days[hour/24].cpu[hour%24*slotsPerHour+i] = cpu
		}
	}
	return l
}

// flat is the demand of a machine that shares nothing.
func flat(cpu int64) headroom.Demand {
	return headroom.Demand{Steady: headroom.Amounts{cpu, 1}, Peak: headroom.Amounts{cpu, 1}}
}

func TestLasting(t *testing.T) {
	node := recommend.Amounts{CPU: 1000, Memory: 1000}
	constant := func(hours int, needs headroom.Demand, cpu uint32) *load {
		return life(hours, func(int) (headroom.Demand, uint32) { return needs, cpu })
	}
	near := func(t *testing.T, what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	t.Run("nothing lives without machines", func(t *testing.T) {
		if got := lasting(nil, node, nil); got != (Lasting{}) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("machines share a node while they fit", func(t *testing.T) {
		got := lasting([]*load{constant(48, flat(500), 400), constant(48, flat(500), 400), constant(48, flat(500), 400)}, node, nil)
		near(t, "nodes", got.Days, 4)
		if got.Over+got.CPUSlots+got.Resizes+got.Waited+got.Moves != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a node ends with its last machine", func(t *testing.T) {
		near(t, "nodes", lasting([]*load{constant(24, flat(600), 1), constant(48, flat(600), 1)}, node, nil).Days, 3)
	})
	t.Run("counts the days and slots of nodes in which usage exceeds them", func(t *testing.T) {
		peak := life(48, func(hour int) (headroom.Demand, uint32) {
			if hour == 3 || hour == 5 || hour == 30 {
				return flat(500), 700
			}
			return flat(500), 100
		})
		got := lasting([]*load{constant(48, flat(500), 400), peak}, node, nil)
		near(t, "days", got.Over, 2)
		near(t, "slots", got.CPUSlots, 36)
	})
	grows := func(hour int) (headroom.Demand, uint32) {
		if hour < 10 {
			return flat(300), 1
		}
		return flat(600), 1
	}
	t.Run("a machine is resized where there is room, and moves where there is none", func(t *testing.T) {
		got := lasting([]*load{constant(23, flat(400), 1), life(23, grows)}, node, nil)
		near(t, "resizes", got.Resizes, 1)
		near(t, "moves", got.Moves, 0)
		near(t, "nodes", got.Days, 23.0/24)
		got = lasting([]*load{constant(23, flat(700), 1), life(23, grows)}, node, nil)
		if got.Waited < 1 || got.Moves < 0.5 || got.Moves > 1 || got.Days <= 1 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a machine that is larger than a node gets a node of its size", func(t *testing.T) {
		got := lasting([]*load{life(23, func(hour int) (headroom.Demand, uint32) { return flat(900 + 100*int64(hour)), 900 + 100*uint32(hour) })}, node, nil)
		near(t, "nodes", got.Days, 23.0/24)
		near(t, "resizes", math.Round(got.Resizes), 22)
		if got.CPUSlots+got.Waited+got.Moves != 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("nodes whose machines fit elsewhere are emptied", func(t *testing.T) {
		shrinks := func(hour int) (headroom.Demand, uint32) {
			if hour < 10 {
				return flat(600), 1
			}
			return flat(100), 1
		}
		got := lasting([]*load{life(48, shrinks), life(48, shrinks), life(48, shrinks)}, node, nil)
		// A machine that is created again after it has shrunk moves to another node earlier.
		if got.Days < 4-0.7 || got.Days > 4 || got.Moves == 0 || got.Moves > 2 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("neighbors share, and each is resized only if its size leaves the band", func(t *testing.T) {
		sharing := NewSharing(recommend.DefaultShared(), headroom.Independent, false)
		d := headroom.Demand{Steady: headroom.Amounts{50, 1}, Peak: headroom.Amounts{150, 1}}
		var loads []*load
		for range 12 {
			l := constant(96, d, 60)
			l.workload = string(rune('a' + len(loads)))
			loads = append(loads, l)
		}
		// Together, they need 600 and a reserve of 346, and 1,800 without sharing. They begin on two nodes, since they cannot
		// expect to share, and fit on one of them only by chance, since they get more while they are few.
		got := lasting(loads, node, sharing)
		if got.Days > 8.1 || got.Days < 4 || got.Over != 0 {
			t.Errorf("%+v", got)
		}
		if got.Resizes > 12*4 {
			t.Errorf("%v resizes", got.Resizes)
		}
		if alone := lasting(loads, node, NewSharing(recommend.DefaultShared(), headroom.Independent, true)); alone.Days < got.Days {
			t.Errorf("%v nodes, and %v with more in reserve", got.Days, alone.Days)
		}
	})
	t.Run("has the same result every time", func(t *testing.T) {
		loads := []*load{constant(100, flat(300), 400), life(70, grows), constant(90, flat(650), 400)}
		if a, b := lasting(loads, node, nil), lasting(loads, node, nil); !reflect.DeepEqual(a, b) {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
}
