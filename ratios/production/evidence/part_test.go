package evidence

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func TestPart(t *testing.T) {
	t.Run("parts make the whole", partsMakeTheWhole)
	t.Run("a copy has nothing in common", aCopyHasNothingInCommon)
	t.Run("turns pairs whose types are in another order", turnsPairsWhoseTypesAreInAnotherOrder)
	t.Run("a turned pair says the opposite", aTurnedPairSaysTheOpposite)
	t.Run("replaces what was selected", replacesWhatWasSelected)
	t.Run("types that nothing names are left out", typesThatNothingNamesAreLeftOut)
	t.Run("what has no room for its names is left out", whatHasNoRoomForItsNamesIsLeftOut)
	t.Run("corrects times that are ahead", correctsTimesThatAreAhead)
}

// busyWorkloads returns evidence of workloads on two types, those with odd numbers in two zones.
func busyWorkloads(workloads int, hours int64) *Evidence {
	e := New()
	for at := range hours {
		for w := range workloads {
			h := hour(at, []float64{1, 1.2, 1.1}, []float64{0.8, 0.9, 0.7 + float64(at%3)/10})
			h.Workload = Key(w)
			if w%2 == 1 {
				h.Replicas = append(h.Replicas, h.Replicas...)
				for i := range h.Replicas[6:] {
					h.Replicas[6+i].Zone = "b"
					h.Replicas[6+i].CPU *= 1 + float64(i)/10
				}
			}
			for i := range h.Replicas {
				r := &h.Replicas[i]
				r.Node, r.CPUModel, r.Busy = KeyOf(fmt.Sprint(w, i)), "milan", float64(i)/10
				if at > hours/2 && i > 2 {
					r.Request = 0.8
				}
			}
			e.Add(h)
		}
	}
	return e
}

func all(Key) bool { return true }

// third selects a third of all keys.
func third(i Key) func(Key) bool { return func(key Key) bool { return key%3 == i } }

// same fails unless two evidences say the same.
func same(t *testing.T, got, want *Evidence) {
	t.Helper()
	if got.last != want.last {
		t.Errorf("the last hour is %d, want %d", got.last, want.last)
	}
	if len(got.Workloads) != len(want.Workloads) || len(got.Nodes) != len(want.Nodes) || len(want.Nodes) == 0 {
		t.Fatalf("%d workloads and %d nodes, want %d and %d", len(got.Workloads), len(got.Nodes), len(want.Workloads), len(want.Nodes))
	}
	for key, w := range want.Workloads {
		if g, w := fmt.Sprintf("%+v", *got.Workloads[key]), fmt.Sprintf("%+v", *w); g != w {
			t.Errorf("%s, want %s", g, w)
		}
	}
	for key, n := range want.Nodes {
		x := got.Nodes[key]
		if got.Types[x.Type] != want.Types[n.Type] || got.Models[x.Model] != want.Models[n.Model] || x.Halves != n.Halves || x.Busy != n.Busy {
			t.Errorf("%+v, want %+v", x, n)
		}
	}
	if len(got.Places) != len(want.Places) || len(want.Places) < 2 {
		t.Errorf("%d places, want %d", len(got.Places), len(want.Places))
	}
	for i := range want.Places {
		w := &want.Places[i]
		if !slices.ContainsFunc(got.Places, func(p Place) bool {
			return got.keyOf(&p) == want.keyOf(w) && p.Halves == w.Halves && p.Last == w.Last
		}) {
			t.Errorf("%+v is not one of %+v", w, got.Places)
		}
	}
	for i, name := range want.Types {
		if k := index(&got.Types, name); got.Slowdown[k] != want.Slowdown[i] || want.Slowdown[i] == (Slowdown{}) {
			t.Errorf("%s: %+v, want %+v", name, got.Slowdown[k], want.Slowdown[i])
		}
	}
}

func partsMakeTheWhole(t *testing.T) {
	e, whole := busyWorkloads(20, 20), New()
	for i := range Key(3) {
		whole.Replace(e.Part(third(i)), third(i))
	}
	same(t, whole, e)
}

func aCopyHasNothingInCommon(t *testing.T) {
	e := busyWorkloads(3, 20)
	c := e.Part(all)
	same(t, c, e)
	e.Add(hour(30, []float64{1, 1}, []float64{2, 2}))
	e.NotAfter(0)
	same(t, c, busyWorkloads(3, 20))
}

func turnsPairsWhoseTypesAreInAnotherOrder(t *testing.T) {
	e, other := busyWorkloads(2, 20), New()
	other.Types, other.Slowdown = []string{"n4"}, []Slowdown{{}}
	other.Replace(e.Part(all), all)
	a, b := &e.Workloads[1].Cells[0], &other.Workloads[1].Cells[0]
	if other.Types[b.A] != "n4" || other.Types[b.B] != "n2d" || b.A >= b.B {
		t.Fatalf("%+v of %v", b, other.Types)
	}
	if a.Like.Mean >= 0 || b.Like.Mean != -a.Like.Mean || b.Like.Squares != a.Like.Squares || b.Spread != [2]float64{a.Spread[1], a.Spread[0]} || a.Spread[0] == a.Spread[1] || b.Sizes != -a.Sizes || a.Sizes == 0 {
		t.Errorf("%+v, want the opposite of %+v", b, a)
	}
	for i := range e.Places {
		if p, x := &e.Places[i], &other.Places[i]; p.Halves[1].Sum != -x.Halves[1].Sum || p.Halves[1].Sum == 0 || x.A != 0 || x.B != 1 {
			t.Errorf("%+v, want the opposite of %+v", x, p)
		}
	}
	// The same hours show the same from either side.
	for at := int64(20); at < 60; at++ {
		load := 1 + float64(at%24)/12
		for _, x := range []*Evidence{e, other} {
			h := hour(at, []float64{load, load}, []float64{load * load, load * load})
			x.Add(h)
		}
	}
	if a, b := &e.Workloads[1].Cells[0], &other.Workloads[1].Cells[0]; math.Abs(a.Slope.Mean+b.Slope.Mean) > 1e-9 || a.Slope.Mean == 0 || math.Abs(a.Like.Mean+b.Like.Mean) > 1e-9 {
		t.Errorf("%+v, want the opposite of %+v", b, a)
	}
	other.Replace(e.Part(all), all)
	if len(other.Types) != 2 {
		t.Errorf("types %v", other.Types)
	}
}

func aTurnedPairSaysTheOpposite(t *testing.T) {
	compared := func(n, mean, a, b float64) Compared {
		return Compared{Moments{N: n, Mean: mean, Squares: n / 2}, [2]float64{a, b}}
	}
	c := Cell{
		A: 1, B: 2, Like: compared(3, 4, 5, 6), Unlike: compared(7, 8, 9, 10), Sizes: 11, Change: Change{Hours: 12, Mean: 13, Sizes: 14}, Apart: compared(15, 16, 17, 18),
		Spread: [2]float64{19, 20}, Replicas: [2]float64{21, 22}, Slope: Slope{Weight: 23, Mean: 24, Squares: 25, Days: 26, open: day{number: 27, n: 28, load: 29, diff: 30, xx: 31, cross: 32}}, Seen: 33, Uses: Uses{N: 34, Cores: [2]float64{35, 36}},
	}
	want := Cell{
		A: 2, B: 1, Like: compared(3, -4, 6, 5), Unlike: compared(7, -8, 10, 9), Sizes: -11, Change: Change{Hours: 12, Mean: -13, Sizes: -14}, Apart: compared(15, -16, 18, 17),
		Spread: [2]float64{20, 19}, Replicas: [2]float64{22, 21}, Slope: Slope{Weight: 23, Mean: -24, Squares: 25, Days: 26, open: day{number: 27, n: 28, load: 29, diff: -30, xx: 31, cross: -32}}, Seen: 33, Uses: Uses{N: 34, Cores: [2]float64{36, 35}},
	}
	if c.turn(); c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
}

func replacesWhatWasSelected(t *testing.T) {
	e, now := busyWorkloads(9, 20), busyWorkloads(9, 5)
	delete(now.Workloads, 3)
	for _, name := range []string{"c3", "e2", "n1", "m7"} {
		e.Slowdown[e.kind(name)] = Slowdown{Squares: 1}
	}
	e.Replace(now.Part(all), third(0))
	for t0, name := range e.Types[2:] {
		if forgotten := e.Slowdown[2+t0] == (Slowdown{}); forgotten != third(0)(KeyOf(name)) {
			t.Errorf("%s: forgotten %t", name, forgotten)
		}
	}
	if len(e.Places) != 2 {
		t.Errorf("%+v", e.Places)
	}
	if e.Workloads[3] != nil || e.Workloads[6].Last != began+4 || e.Workloads[4].Last != began+19 || len(e.Workloads) != 8 {
		t.Errorf("%+v", e.Workloads)
	}
	e.Replace(now.Part(all), all)
	if len(e.Places) != 2 || e.Places[0].Last != began+4 {
		t.Errorf("%+v, want %+v", e.Places, now.Places)
	}
}

func typesThatNothingNamesAreLeftOut(t *testing.T) {
	e := busyWorkloads(2, 5)
	e.Types, e.Slowdown = append([]string{"gone"}, e.Types...), append([]Slowdown{{}}, e.Slowdown...)
	nothing := func(*int) {}
	e.numbers(func(t *int) { *t++ }, nothing, nothing)
	if p := e.Part(all); len(p.Types) != 2 || p.Types[0] != "n2d" || len(p.Slowdown) != 2 || p.Slowdown[1] != e.Slowdown[2] {
		t.Errorf("%v, %v", p.Types, p.Slowdown)
	}
	if p := e.Part(func(key Key) bool { return key == KeyOf("n4") }); len(p.Types) != 1 || p.Types[0] != "n4" || p.Slowdown[0] != e.Slowdown[2] || len(p.Slowdown) != 1 {
		t.Errorf("the slowdown of a type alone: %v, %v", p.Types, p.Slowdown)
	}
	if p := e.Part(func(Key) bool { return false }); len(p.Types)+len(p.Models)+len(p.Workloads)+len(p.Nodes) != 0 {
		t.Errorf("%+v", p)
	}
}

func whatHasNoRoomForItsNamesIsLeftOut(t *testing.T) {
	e, full := busyWorkloads(2, 20), New()
	for at := range int64(5) {
		h := hour(at, []float64{1, 1}, nil)
		h.Workload = 9
		for i := range h.Replicas {
			h.Replicas[i].Work = 1
		}
		e.Add(h)
	}
	for i := range mostNames {
		full.kind(fmt.Sprint(i))
	}
	full.Replace(e.Part(all), all)
	if w := full.Workloads[1]; len(w.Cells)+len(full.Nodes)+len(full.Places) != 0 || len(full.Workloads[9].open) != 0 || len(e.Workloads[9].open) == 0 {
		t.Errorf("%+v, %d nodes, %d places", w, len(full.Nodes), len(full.Places))
	}
}

func correctsTimesThatAreAhead(t *testing.T) {
	const now = began + 10
	e := busyWorkloads(2, 60)
	for at := range int64(60) {
		h := hour(at, []float64{1, 1}, nil)
		h.Workload = 9
		for i := range h.Replicas {
			h.Replicas[i].Work = 1
		}
		e.Add(h)
	}
	if w := e.Workloads[9]; len(w.Costs) == 0 || len(w.open) == 0 || w.worked <= now || e.last <= now || len(e.Places) == 0 {
		t.Fatalf("%+v", w)
	}
	e.NotAfter(now)
	late := e.last > now
	for _, w := range e.Workloads {
		late = late || w.Last > now || w.worked > now
		for i := range w.Cells {
			late = late || w.Cells[i].Seen > now
		}
		for _, c := range append(w.Costs, w.open...) {
			late = late || c.Day > now/hoursPerDay
		}
	}
	for _, n := range e.Nodes {
		late = late || n.Last > now
	}
	for _, p := range e.Places {
		late = late || p.Last > now
	}
	if late {
		t.Error("some of it is still ahead")
	}
	before := e.Workloads[1].Cells[0].Hours()
	e.Add(hour(10, []float64{9, 9}, []float64{9, 9}))
	if e.Workloads[1].Cells[0].Hours() != before {
		t.Error("the hour counts twice")
	}
	e.Add(hour(11, []float64{9, 9}, []float64{9, 9}))
	if e.Workloads[1].Cells[0].Hours() <= before {
		t.Error("the next hour does not count")
	}
}
