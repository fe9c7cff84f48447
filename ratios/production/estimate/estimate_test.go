package estimate

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// chain returns evidence of workloads that compare e2 with n2d, and n2d with n4, but never e2 with n4: n2d is 1.1 times as
// fast as e2, and n4 1.2 times as fast as n2d.
func chain(workloads int) *evidence.Evidence {
	e := evidence.New()
	e.Types = []string{"e2", "n2d", "n4"}
	e.Slowdown = make([]evidence.Slowdown, 3)
	for i := range workloads {
		ratio := math.Log([2]float64{1.1, 1.2}[i%2]) + 0.05*math.Sin(float64(i*i))
		e.Workloads[evidence.Key(i)] = using(1, cell(i%2, i%2+1, ratio))
	}
	for i := range 60 {
		h := evidence.Deviation{Weight: 5000}
		e.Nodes[evidence.Key(i)] = &evidence.Node{Type: i % 3, Model: -1, Compared: 200, Halves: [2]evidence.Deviation{h, h}}
	}
	return e
}

// using returns a workload that uses a number of cores on all its types together.
func using(cores float64, cells ...evidence.Cell) *evidence.Workload {
	w := &evidence.Workload{Cells: cells}
	letUse(w, cores)
	return w
}

// letUse lets a workload use another number of cores, divided by replicas.
func letUse(w *evidence.Workload, cores float64) {
	replicas, sum := map[int]float64{}, 0.0
	for i := range w.Cells {
		c := &w.Cells[i]
		for side, kind := range [2]int{c.A, c.B} {
			sum += c.Replicas[side] - replicas[kind]
			replicas[kind] = c.Replicas[side]
		}
	}
	w.Each = cores / sum
	for i := range w.Cells {
		c := &w.Cells[i]
		c.Uses = evidence.Uses{N: 300, Cores: [2]float64{w.Each * c.Replicas[0], w.Each * c.Replicas[1]}}
	}
}

func cell(a, b int, ratio float64) evidence.Cell {
	return evidence.Cell{
		A: a, B: b, Like: evidence.Compared{Moments: evidence.Moments{N: 150, Mean: -ratio, Squares: 150 * 0.02}}, Spread: [2]float64{0.04, 0.04}, Replicas: [2]float64{4, 4},
		Slope: evidence.Slope{Weight: 14, Squares: 0.5, Days: 14},
	}
}

func of(t *testing.T, r Result, name string) Type {
	t.Helper()
	i := slices.IndexFunc(r.Types, func(x Type) bool { return x.NodeType == name })
	if i < 0 {
		t.Fatalf("%s is not one of %+v", name, r.Types)
	}
	return r.Types[i]
}

func codes(x Type) []Code {
	var all []Code
	for _, d := range x.Doubts {
		all = append(all, d.Code)
	}
	return all
}

func TestEstimate(t *testing.T) {
	t.Run("compares types through others", comparesTypesThroughOthers)
	t.Run("is more certain of this cluster than of the next workload", isMoreCertainOfThisClusterThanOfTheNextWorkload)
	t.Run("says what is missing", saysWhatIsMissing)
	t.Run("says which workloads do not count", saysWhichWorkloadsDoNotCount)
	t.Run("holds workloads back that mislead", holdsWorkloadsBackThatMislead)
	t.Run("holds back hours with unlike sizes if sizes matter", holdsBackHoursWithUnlikeSizesIfSizesMatter)
	t.Run("corrects how busy nodes are", correctsHowBusyNodesAre)
	t.Run("corrects how busy nodes are where few types know", correctsHowBusyNodesAreWhereFewTypesKnow)
	t.Run("says that it is not known how busy nodes are", saysThatItIsNotKnownHowBusyNodesAre)
	t.Run("judges CPU models by zone", judgesCPUModelsByZone)
	t.Run("says that zones differ", saysThatZonesDiffer)
	t.Run("counts nodes that were compared", countsNodesThatWereCompared)
	t.Run("weights workloads by cores", weightsWorkloadsByCores)
	t.Run("says the same each time", saysTheSameEachTime)
	t.Run("accepts circles that were compared in different hours", acceptsCirclesThatWereComparedInDifferentHours)
}

func comparesTypesThroughOthers(t *testing.T) {
	r := Estimate(chain(200), "e2", Defaults())
	if x := of(t, r, "n4"); math.Abs(x.Cluster.Ratio-1.32) > 0.02 || math.Abs(x.Population.Ratio-1.32) > 0.02 || len(x.Doubts) > 0 {
		t.Errorf("%+v", x)
	}
	back := Estimate(chain(200), "n4", Defaults())
	if x := of(t, back, "e2"); math.Abs(x.Population.Ratio*of(t, r, "n4").Population.Ratio-1) > 1e-6 {
		t.Errorf("there and back: %+v", x)
	}
}

func isMoreCertainOfThisClusterThanOfTheNextWorkload(t *testing.T) {
	x := of(t, Estimate(chain(200), "e2", Defaults()), "n2d")
	if x.Cluster.half() >= x.Next.half() || x.Next.half() < 0.04 {
		t.Errorf("±%.3f and ±%.3f", x.Cluster.half(), x.Next.half())
	}
	if few := of(t, Estimate(chain(20), "e2", Defaults()), "n2d"); few.Cluster.half() <= x.Cluster.half() {
		t.Errorf("±%.3f with few, ±%.3f with many", few.Cluster.half(), x.Cluster.half())
	}
}

func saysWhatIsMissing(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(e *evidence.Evidence)
		want   Code
	}{
		{"no workload on both", func(e *evidence.Evidence) {
			e.Types = append(e.Types, "c3")
			e.Slowdown = append(e.Slowdown, evidence.Slowdown{})
		}, NotCompared},
		{"two nodes", func(e *evidence.Evidence) {
			for i := 8; i < 60; i += 3 {
				delete(e.Nodes, evidence.Key(i))
			}
		}, TooFewNodes},
		{"few workloads", func(e *evidence.Evidence) {
			for i := 9; i < 200; i += 2 {
				delete(e.Workloads, evidence.Key(i))
			}
		}, TooFewWorkloads},
		{"CPU models that differ", func(e *evidence.Evidence) {
			e.Models, e.Zones = []string{"milan", "rome"}, []string{"a"}
			for i := 2; i < 60; i += 3 {
				n := e.Nodes[evidence.Key(i)]
				n.Model = i % 2
				for h := range n.Halves {
					n.Halves[h].Sum = 0.2 * float64(i%2) * n.Halves[h].Weight
				}
			}
		}, ModelsDiffer},
		{"few workloads that differ", func(e *evidence.Evidence) {
			for i := 21; i < 200; i += 2 {
				delete(e.Workloads, evidence.Key(i))
			}
		}, IntervalTooWide},
	} {
		e := chain(200)
		tc.change(e)
		r := Estimate(e, "e2", Defaults())
		x := r.Types[len(r.Types)-1]
		if tc.want == NotCompared {
			x = of(t, r, "c3")
		}
		if !slices.Contains(codes(x), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, x.Doubts, tc.want)
		}
	}
}

func saysWhichWorkloadsDoNotCount(t *testing.T) {
	e := chain(200)
	for i := 1; i < 200; i += 2 {
		w := e.Workloads[evidence.Key(i)]
		switch i % 4 {
		case 1:
			w.Pulls = true
		case 3:
			w.Cells[0].Like.N = 10
		}
	}
	x := of(t, Estimate(e, "e2", Defaults()), "n4")
	if len(x.Doubts) != 1 || !strings.HasPrefix(x.Doubts[0].Detail, "50 workloads run on this node type and on another one for too few hours so far") || x.Held[Pulls] != 50 {
		t.Errorf("%+v", x)
	}
}

func holdsWorkloadsBackThatMislead(t *testing.T) {
	slow := math.Log(1.2)
	for _, tc := range []struct {
		want   Reason
		change func(w *evidence.Workload, c *evidence.Cell)
	}{
		{"", func(*evidence.Workload, *evidence.Cell) {}},
		{Pulls, func(w *evidence.Workload, _ *evidence.Cell) { w.Pulls = true }},
		{"", func(w *evidence.Workload, _ *evidence.Cell) { w.Pulls, w.Known = true, true }},
		{Throttled, func(w *evidence.Workload, _ *evidence.Cell) { w.Throttled = 50 }},
		{"", func(w *evidence.Workload, c *evidence.Cell) {
			w.Throttled = 5
			rare := cell(0, 2, math.Log(1.32))
			rare.Like.N = 6
			w.Cells = append(w.Cells, rare)
		}},
		{ReplicasUnlike, func(_ *evidence.Workload, c *evidence.Cell) { c.Spread[0] = 0.2 }},
		{TooFewHours, func(_ *evidence.Workload, c *evidence.Cell) { c.Like.N = 10 }},
		{ReplicasUnlike, func(_ *evidence.Workload, c *evidence.Cell) { c.Spread[1] = 0.5 }},
		{LoadSteady, func(_ *evidence.Workload, c *evidence.Cell) { c.Slope.Days = 1 }},
		{SizesUnlike, func(_ *evidence.Workload, c *evidence.Cell) {
			c.Like, c.Unlike = evidence.Compared{}, c.Like
		}},
		{SlopeFalls, func(_ *evidence.Workload, c *evidence.Cell) { c.Like.Mean, c.Slope.Mean = -slow/2, slow*0.7 }},
		{Odd, func(_ *evidence.Workload, c *evidence.Cell) { c.Like.Mean = -slow * 4 }},
	} {
		e := chain(200)
		w := e.Workloads[1]
		c := &w.Cells[0]
		c.Slope.Squares = 0.05
		c.Like.Mean = -slow
		tc.change(w, c)
		if got := Estimate(e, "e2", Defaults()).Workloads[1].Held; got != tc.want {
			t.Errorf("held for %q, want %q", got, tc.want)
		}
	}
}

func holdsBackHoursWithUnlikeSizesIfSizesMatter(t *testing.T) {
	for _, power := range []float64{0, 0.5} {
		e := chain(200)
		for _, w := range e.Workloads {
			c := &w.Cells[0]
			// Replicas on the faster type are smaller, by its ratio and a half.
			c.Sizes = 1.5 * c.Like.Mean
			c.Unlike = c.Like
			c.Unlike.Mean += power * c.Sizes
			c.Change = evidence.Change{Hours: 48, Mean: power * c.Sizes, Sizes: c.Sizes}
			c.Spread = [2]float64{0.005, 0.005}
		}
		x := of(t, Estimate(e, "e2", Defaults()), "n4")
		hours := 15000.0
		if power == 0 {
			hours *= 2
		}
		if math.Abs(x.Cluster.Ratio-1.32) > 0.02 || math.Abs(x.Hours-hours) > 0.1*hours {
			t.Errorf("power %v: %+v", power, x)
		}
	}
}

func correctsHowBusyNodesAre(t *testing.T) {
	e := chain(200)
	for i := range e.Slowdown {
		e.Slowdown[i] = evidence.Slowdown{Squares: 1e4, Products: 0.3e4, Count: 1e6}
	}
	for _, w := range e.Workloads {
		if c := &w.Cells[0]; c.B == 2 {
			c.Like.Busy = [2]float64{0.4, 0.8}
			c.Like.Mean += 0.3 * 0.4
		} else {
			c.Like.Busy = [2]float64{0.4, 0.4}
		}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); math.Abs(x.Cluster.Ratio-1.32) > 0.02 {
		t.Errorf("%+v", x.Cluster)
	}
}

func correctsHowBusyNodesAreWhereFewTypesKnow(t *testing.T) {
	e := chain(200)
	for i := range e.Slowdown {
		e.Slowdown[i] = evidence.Slowdown{Squares: 1e4, Products: 0.3e4, Count: 1e6}
	}
	want := of(t, Estimate(e, "e2", Defaults()), "n2d")
	for i, w := range e.Workloads {
		c := &w.Cells[0]
		c.Like.Busy = [2]float64{-1, -1}
		if c.B == 2 { // The nodes of n4 are known, and some of them are busy.
			c.Like.Busy[1] = [2]float64{0.4, 0.8}[i/2%2]
			c.Like.Mean += 0.3 * (c.Like.Busy[1] - 0.6)
		}
	}
	r := Estimate(e, "n2d", Defaults())
	if x := of(t, r, "n4"); math.Abs(x.Cluster.Ratio-1.2) > 0.015 {
		t.Errorf("%+v", x.Cluster)
	}
	if r.Between > 0.045 {
		t.Errorf("workloads differ by %.3f: how busy their nodes are is not used", r.Between)
	}
	// Nodes of which nothing is known are not idle: their ratio does not change.
	if got := of(t, Estimate(e, "e2", Defaults()), "n2d"); math.Abs(got.Cluster.Ratio/want.Cluster.Ratio-1) > 0.005 {
		t.Errorf("%+v, want %+v", got.Cluster, want.Cluster)
	}
}

func saysThatItIsNotKnownHowBusyNodesAre(t *testing.T) {
	e := chain(200)
	for i := range e.Slowdown {
		e.Slowdown[i] = evidence.Slowdown{Squares: 1e4, Products: 0.3e4, Count: 1e6}
	}
	for _, w := range e.Workloads {
		w.Cells[0].Like.Busy = [2]float64{-1, -1}
	}
	x := of(t, Estimate(e, "e2", Defaults()), "n4")
	if !slices.Contains(codes(x), LoadUnknown) || x.Cluster.half() < 0.05 {
		t.Errorf("%+v", x)
	}
}

// modeled lets the nodes of n4 have two CPU models, of which one is faster.
func modeled(e *evidence.Evidence, zone func(i, model int) int, deviation func(zone, model int) float64) {
	e.Models, e.Zones = []string{"milan", "rome"}, []string{"a", "b"}
	for i := 2; i < 60; i += 3 {
		n := e.Nodes[evidence.Key(i)]
		n.Model = i % 2
		n.Zone = zone(i, n.Model)
		for h := range n.Halves {
			n.Halves[h].Sum = deviation(n.Zone, n.Model) * n.Halves[h].Weight
		}
	}
}

func judgesCPUModelsByZone(t *testing.T) {
	// In zone a, all nodes have the slow model. In zone b, nodes deviate from the mean of both models there.
	e := chain(200)
	modeled(e, func(i, model int) int {
		if model == 1 || i < 30 {
			return 1
		}
		return 0
	}, func(zone, model int) float64 {
		if zone == 0 {
			return 0
		}
		return [2]float64{0.09, -0.09}[model]
	})
	x := of(t, Estimate(e, "e2", Defaults()), "n4")
	if i := slices.Index(codes(x), ModelsDiffer); i < 0 || !strings.Contains(x.Doubts[i].Detail, `at least 1.1`) {
		t.Errorf("%+v", x.Doubts)
	}
	// A few workloads in one of the halves, or chance, do not show it.
	for _, n := range e.Nodes {
		n.Halves[0].Sum = 0
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); slices.Contains(codes(x), ModelsDiffer) {
		t.Errorf("only half of the workloads show it: %+v", x.Doubts)
	}
	for i := 2; i < 60; i += 3 {
		for h, n := 0, e.Nodes[evidence.Key(i)]; h < 2; h++ {
			n.Halves[h] = evidence.Deviation{Weight: 300, Sum: 300 * [2]float64{0.09, -0.09}[n.Model]}
		}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); slices.Contains(codes(x), ModelsDiffer) {
		t.Errorf("a few hours show it: %+v", x.Doubts)
	}
	// Models that are in different zones are not compared by how their nodes deviate from others of their zones.
	e = chain(200)
	modeled(e, func(_, model int) int { return model }, func(zone, _ int) float64 { return 0.2 * float64(zone) })
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); slices.Contains(codes(x), ModelsDiffer) {
		t.Errorf("%+v", x.Doubts)
	}
}

func saysThatZonesDiffer(t *testing.T) {
	e := chain(200)
	e.Zones = []string{"a", "b"}
	for i, n := range e.Nodes {
		n.Zone = int(i) / 3 % 2
	}
	for zone, mean := range []float64{0.09, -0.09} { // In zone b, n4 needs less than in zone a.
		d := evidence.Deviation{Weight: 1e6, Sum: 1e6 * mean}
		e.Places = append(e.Places, evidence.Place{A: 1, B: 2, Zone: zone, Halves: [2]evidence.Deviation{d, d}})
		d.Sum = 0
		e.Places = append(e.Places, evidence.Place{A: 0, B: 1, Zone: zone, Halves: [2]evidence.Deviation{d, d}})
	}
	r := Estimate(e, "e2", Defaults())
	if x := of(t, r, "n4"); !slices.Contains(codes(x), ZonesDiffer) || !strings.Contains(x.Doubts[0].Detail, "at least 1.1") {
		t.Errorf("%+v", x.Doubts)
	}
	if x := of(t, r, "n2d"); len(x.Doubts) > 0 {
		t.Errorf("%+v", x.Doubts)
	}
	for i := range e.Places { // Only half of the workloads show it, by however much.
		if p := &e.Places[i]; p.B == 2 {
			p.Halves[0].Sum, p.Halves[1].Sum = 0, 3*p.Halves[1].Sum
		}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); len(x.Doubts) > 0 {
		t.Errorf("%+v", x.Doubts)
	}
	for i := range e.Places { // A few hours show little.
		p := &e.Places[i]
		for h := range p.Halves {
			p.Halves[h].Weight, p.Halves[h].Sum = 50, p.Halves[1].Sum/2e4
		}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); len(x.Doubts) > 0 {
		t.Errorf("%+v", x.Doubts)
	}
}

func countsNodesThatWereCompared(t *testing.T) {
	e := chain(200)
	for i := 2; i < 60; i += 3 {
		if i > 8 {
			e.Nodes[evidence.Key(i)].Compared = 0
		}
	}
	few := of(t, Estimate(e, "e2", Defaults()), "n4")
	if few.Nodes != 3 || len(few.Doubts) > 0 && few.Doubts[0].Code == TooFewNodes {
		t.Errorf("%+v", few)
	}
	e.Nodes[2].Compared = 1 // For an hour or two.
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); x.Nodes != 2 || !slices.Contains(codes(x), TooFewNodes) {
		t.Errorf("%+v", x)
	}
	if many := of(t, Estimate(chain(200), "e2", Defaults()), "n4"); few.Cluster.half() < 1.3*many.Cluster.half() {
		t.Errorf("±%.3f with 3 nodes, ±%.3f with 20", few.Cluster.half(), many.Cluster.half())
	}
}

func weightsWorkloadsByCores(t *testing.T) {
	e := chain(200)
	before := of(t, Estimate(e, "e2", Defaults()), "n2d")
	w := e.Workloads[0]
	letUse(w, 1000)
	w.Cells[0].Like.Mean -= 0.1
	after := of(t, Estimate(e, "e2", Defaults()), "n2d")
	if after.Cluster.Ratio < before.Cluster.Ratio*1.03 || after.Population.Ratio > before.Population.Ratio*1.01 {
		t.Errorf("from %+v to %+v", before, after)
	}
}

func saysTheSameEachTime(t *testing.T) {
	e := chain(200)
	for key, w := range e.Workloads {
		w.Cells[0].Like.Busy = [2]float64{1 / float64(key+3), 1 / float64(key+7)}
	}
	for i := range e.Slowdown {
		e.Slowdown[i] = evidence.Slowdown{Squares: 1e4, Products: 0.3e4, Count: 1e6}
	}
	want := Estimate(e, "e2", Defaults())
	for range 5 {
		if got := Estimate(e, "e2", Defaults()); !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v, then %+v", want.Types, got.Types)
		}
	}
}

func acceptsCirclesThatWereComparedInDifferentHours(t *testing.T) {
	e := chain(200)
	for i := range 20 {
		w := e.Workloads[evidence.Key(i)]
		w.Cells = []evidence.Cell{cell(0, 1, math.Log(1.1)), cell(1, 2, math.Log(1.2)), cell(0, 2, math.Log(1.32)+0.05)}
	}
	if r := Estimate(e, "e2", Defaults()); r.Between > 0.1 || len(of(t, r, "n4").Doubts) > 0 {
		t.Errorf("%+v", r.Types)
	}
}

func TestMatrix(t *testing.T) {
	m := newMatrix(2)
	copy(m.v, []float64{4, 2, 2, 3})
	if d := m.factor(); math.Abs(d-math.Log(8)) > 1e-12 {
		t.Errorf("determinant %v", math.Exp(d))
	}
	inverse := m.invert()
	for i, want := range []float64{3.0 / 8, -0.25, -0.25, 0.5} {
		if math.Abs(inverse.v[i]-want) > 1e-12 {
			t.Errorf("%v", inverse.v)
		}
	}
}

// BenchmarkEstimate estimates eight types from 10,000 workloads on two to six of them each, whose sizes have become unlike, so that
// the model is fitted twice.
func BenchmarkEstimate(b *testing.B) {
	e := chain(0)
	e.Types = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	e.Slowdown = make([]evidence.Slowdown, len(e.Types))
	for i := range 10_000 {
		w := &evidence.Workload{}
		for j := range 1 + i%evidence.MostCells {
			c := cell(0, j+1, 0.1*float64(j)+0.05*math.Sin(float64(i*i+j)))
			c.Unlike, c.Sizes, c.Change = c.Like, -0.2, evidence.Change{Hours: 48, Sizes: -0.2}
			w.Cells = append(w.Cells, c)
		}
		letUse(w, 1)
		e.Workloads[evidence.Key(i)] = w
	}
	for b.Loop() {
		Estimate(e, "a", Defaults())
	}
}
