package evidence

import (
	"fmt"
	"math"
	"reflect"
	"testing"
)

const began = 480_000

// hour returns an hour of a workload in one zone: replicas of two types that use the given cores each.
func hour(at int64, a, b []float64) Hour {
	h := Hour{Workload: 1, At: began + at}
	for t, all := range [2][]float64{a, b} {
		for i, cpu := range all {
			h.Replicas = append(h.Replicas, Replica{
				Node: KeyOf(fmt.Sprint(t, i)), NodeType: [2]string{"n2d", "n4"}[t], Zone: "a", CPU: cpu, Request: 1, Busy: math.NaN(), Whole: true,
			})
		}
	}
	return h
}

// only returns the only cell.
func only(t *testing.T, e *Evidence) *Cell {
	t.Helper()
	if w := e.Workloads[1]; w == nil || len(w.Cells) != 1 {
		t.Fatalf("workloads %+v", e.Workloads)
	}
	return &e.Workloads[1].Cells[0]
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestEvidence(t *testing.T) {
	t.Run("compares types in the same hour", comparesTypesInTheSameHour)
	t.Run("compares replicas in one zone only", comparesReplicasInOneZoneOnly)
	t.Run("leaves out hours that mislead", leavesOutHoursThatMislead)
	t.Run("one replica that does more does not decide", oneReplicaThatDoesMoreDoesNotDecide)
	t.Run("counts hours with throttled replicas", countsHoursWithThrottledReplicas)
	t.Run("throttled replicas that just started do not matter", throttledReplicasThatJustStartedDoNotMatter)
	t.Run("compares the usage per work if that is known", comparesTheUsagePerWorkIfThatIsKnown)
	t.Run("does not mix usage and usage per work", doesNotMixUsageAndUsagePerWork)
	t.Run("counts hours in the upper half of load", countsHoursInTheUpperHalfOfLoad)
	t.Run("knows the slope against load", knowsTheSlopeAgainstLoad)
	t.Run("separates hours with unlike sizes", separatesHoursWithUnlikeSizes)
	t.Run("knows how differences change with sizes", knowsHowDifferencesChangeWithSizes)
	t.Run("knows how nodes deviate", knowsHowNodesDeviate)
	t.Run("knows which nodes were compared", knowsWhichNodesWereCompared)
	t.Run("knows where it is not known how busy nodes are", knowsWhereItIsNotKnownHowBusyNodesAre)
	t.Run("is copied as a whole", isCopiedAsAWhole)
	t.Run("knows how busy nodes slow replicas down", knowsHowBusyNodesSlowReplicasDown)
	t.Run("learns little of nodes from replicas that differ by themselves", learnsLittleOfNodesFromReplicasThatDifferByThemselves)
	t.Run("learns little of nodes from few replicas that are far from others", learnsLittleOfNodesFromFewReplicasThatAreFarFromOthers)
	t.Run("learns nothing of nodes from replicas that hardly use CPU", learnsNothingOfNodesFromReplicasThatHardlyUseCPU)
	t.Run("weights an hour by the spread of others", weightsAnHourByTheSpreadOfOthers)
	t.Run("is bounded", isBounded)
	t.Run("forgets", forgets)
}

func comparesTypesInTheSameHour(t *testing.T) {
	e := New()
	e.Add(hour(0, []float64{1, 4}, []float64{1, 1}))
	c := only(t, e)
	if !near(c.Like.Mean, -math.Log(2)) || c.Like.N != 1 || c.Replicas != [2]float64{2, 2} {
		t.Errorf("%+v", c)
	}
	if want := math.Pow(math.Log(4), 2) / 2; !near(c.Spread[0], want) || c.Spread[1] != 0 {
		t.Errorf("spread %v, want %v", c.Spread, want)
	}
	e.Add(hour(0, []float64{8, 8}, []float64{1, 1}))
	if c := only(t, e); c.Like.N != 1 {
		t.Error("an hour counts twice")
	}
}

func comparesReplicasInOneZoneOnly(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1, 2, 2}, []float64{1, 1, 2, 2})
	for _, i := range []int{2, 3} {
		h.Replicas[i].Zone, h.Replicas[4+i].Zone = "b", "c"
	}
	e.Add(h)
	if c := only(t, e); !near(c.Like.Mean, 0) || c.Replicas != [2]float64{2, 2} {
		t.Errorf("%+v", c)
	}
}

func leavesOutHoursThatMislead(t *testing.T) {
	for name, change := range map[string]func(h *Hour){
		"a throttled replica":         func(h *Hour) { h.Replicas[0].Throttled = true },
		"two revisions":               func(h *Hour) { h.Replicas[0].Revision = 1 },
		"a replica that started":      func(h *Hour) { h.Replicas[0].Whole = false },
		"a replica that used nothing": func(h *Hour) { h.Replicas[0].CPU = 0 },
		"a usage that is no number":   func(h *Hour) { h.Replicas[0].CPU = math.NaN() },
	} {
		e := New()
		h := hour(0, []float64{1, 1}, []float64{1, 1})
		change(&h)
		if e.Add(h); len(e.Workloads) != 0 {
			t.Errorf("%s: %+v", name, e.Workloads[1])
		}
	}
}

func oneReplicaThatDoesMoreDoesNotDecide(t *testing.T) {
	e := New()
	e.Add(hour(0, []float64{1, 1, 1, 5}, []float64{1, 1, 1}))
	if c := only(t, e); !near(c.Like.Mean, 0) || c.Spread[0] < 0.5 || !near(c.Spread[1], 0) {
		t.Errorf("%+v", c)
	}
	e = New()
	e.Add(hour(0, []float64{0.9, 1.1, 1.3, 5}, []float64{0.9, 1.1, 1.3}))
	if c := only(t, e); c.Like.Mean < -0.2 || c.Like.Mean > 0 {
		t.Errorf("%+v", c)
	}
	e = New()
	e.Add(hour(0, []float64{1, 1.1, 1.25}, []float64{1, 1.1, 1.2}))
	if c := only(t, e); !near(c.Like.Mean, -math.Log(1.25/1.2)/3) {
		t.Errorf("without any that is far, it is not the mean: %+v", c)
	}
}

func countsHoursWithThrottledReplicas(t *testing.T) {
	e := New()
	for at := range int64(10) {
		h := hour(at, []float64{1, 1}, []float64{1, 1})
		h.Replicas[3].Throttled = at >= 4
		e.Add(h)
	}
	if w := e.Workloads[1]; only(t, e).Like.N > 4 || w.Throttled < 5.9 || w.Throttled > 6 {
		t.Errorf("%+v", w)
	}
}

// throttledReplicasThatJustStartedDoNotMatter lets a replica be throttled while it starts, as most are that compile or fill caches.
func throttledReplicasThatJustStartedDoNotMatter(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1, 1}, []float64{1, 1})
	h.Replicas[2].Throttled, h.Replicas[2].Whole = true, false
	e.Add(h)
	if c := only(t, e); c.Like.N != 1 || c.Replicas != [2]float64{2, 2} || e.Workloads[1].Throttled != 0 {
		t.Errorf("%+v", e.Workloads[1])
	}
}

func comparesTheUsagePerWorkIfThatIsKnown(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1}, []float64{1, 1})
	for i := range h.Replicas {
		h.Replicas[i].Work = float64(100 * (1 + i/2))
	}
	e.Add(h)
	if c := only(t, e); !near(c.Like.Mean, -math.Log(2)) || !e.Workloads[1].Known {
		t.Errorf("%+v", c)
	}
}

func doesNotMixUsageAndUsagePerWork(t *testing.T) {
	e := New()
	add := func(at int64, work float64) *Cell {
		load := float64(1 + at) // Each hour is in the upper half.
		h := hour(at, []float64{load, load}, []float64{load, load})
		for i := range h.Replicas {
			h.Replicas[i].Work = work * float64(1+i/2)
		}
		e.Add(h)
		return only(t, e)
	}
	add(0, 0)
	add(1, 0)
	if c := add(2, 1); !near(c.Like.Mean, -math.Log(2)) || c.Like.N != 1 {
		t.Errorf("work became known: %+v", c)
	}
	if c := add(3, 0); !near(c.Like.Mean, -math.Log(2)) || !e.Workloads[1].Known {
		t.Errorf("an hour without work: %+v", c)
	}
	if c := add(3+7*24, 0); !near(c.Like.Mean, 0) || e.Workloads[1].Known {
		t.Errorf("work is no longer known: %+v", c)
	}
}

func countsHoursInTheUpperHalfOfLoad(t *testing.T) {
	e := New()
	for at := range int64(20 * 24) {
		load, ratio := 1.0, 1.0
		if at/12%2 == 0 {
			load, ratio = 2, 0.5
		}
		e.Add(hour(at, []float64{load, load}, []float64{load * ratio, load * ratio}))
	}
	if c := only(t, e); math.Abs(c.Like.Mean+math.Log(2)) > 0.05 || c.Hours() > 11*24 {
		t.Errorf("%.3f in %.0f hours", c.Like.Mean, c.Hours())
	}
}

func knowsTheSlopeAgainstLoad(t *testing.T) {
	e := New()
	for at := range int64(10*24 + 1) {
		x := math.Sin(float64(at) * 2 * math.Pi / 24)
		// The load is the mean of both types, and the difference half of it.
		a, b := math.Exp(x-x/4), math.Exp(x+x/4)
		e.Add(hour(at, []float64{a, a}, []float64{b, b}))
	}
	if s := only(t, e).Slope; math.Abs(s.Mean-0.5) > 1e-6 || s.Days < 8 || s.Squares > 1e-6 {
		t.Errorf("%+v", s)
	}
}

func separatesHoursWithUnlikeSizes(t *testing.T) {
	e := New()
	for at := range int64(20) {
		h := hour(at, []float64{1, 1}, []float64{1, 1})
		if at >= 10 {
			h = hour(at, []float64{2, 2}, []float64{1, 1})
			h.Replicas[2].Request, h.Replicas[3].Request = 0.8, 0.8
		}
		e.Add(h)
	}
	c := only(t, e)
	if !near(c.Like.Mean, 0) || !near(c.Unlike.Mean, -math.Log(2)) || c.Unlike.N < 9 {
		t.Errorf("%+v", c)
	}
	h := hour(HalfLife+19, []float64{2, 2}, []float64{1, 1})
	h.Replicas[2].Request, h.Replicas[3].Request = 0.8, 0.8
	before := c.Like.N
	e.Add(h)
	if c := only(t, e); math.Abs(c.Like.N-before/2) > 0.01 {
		t.Errorf("evidence of like sizes has weight %.2f after a half-life, and had %.2f", c.Like.N, before)
	}
}

func knowsHowDifferencesChangeWithSizes(t *testing.T) {
	e := New()
	for at := range int64(300) {
		load := 1 + float64(at)/100 // Each hour is in the upper half.
		h := hour(at, []float64{load, load}, []float64{load, load})
		if at >= 100 {
			h.Replicas[2].Request, h.Replicas[3].Request = 0.8, 0.8
			h.Replicas[2].CPU, h.Replicas[3].CPU = 0.9*load, 0.9*load
		}
		if at >= 200 { // Later, other things change.
			h.Replicas[2].CPU, h.Replicas[3].CPU = 0.5*load, 0.5*load
		}
		e.Add(h)
	}
	if x := only(t, e).Change; x.Hours != firstHours || !near(x.Mean, math.Log(0.9)) || !near(x.Sizes, math.Log(0.8)) {
		t.Errorf("%+v", x)
	}
	e = New()
	for at := range int64(100) {
		h := hour(at, []float64{1, 1}, []float64{1, 1})
		h.Replicas[2].Request, h.Replicas[3].Request = 0.8, 0.8
		e.Add(h)
	}
	if x := only(t, e).Change; x != (Change{}) {
		t.Errorf("sizes that were never alike did not change: %+v", x)
	}
}

func knowsHowNodesDeviate(t *testing.T) {
	e := New()
	for at := range int64(10) {
		e.Add(hour(at, []float64{1, 1, 1, 1.2}, []float64{1, 1}))
	}
	slow := e.Nodes[KeyOf("0 3")]
	if got := slow.Halves[1].Mean(); !near(got, math.Log(1.2)) || slow.Halves[0].Weight != 0 {
		t.Errorf("%v, want %v", got, math.Log(1.2))
	}
}

func knowsWhichNodesWereCompared(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, 1, 1, 1}, []float64{1, 1})
	h.Replicas[0].Zone, h.Replicas[1].Zone = "b", "b" // There is no n4 in this zone.
	e.Add(h)
	for name, want := range map[string]bool{"0 0": false, "0 1": false, "0 2": true, "0 3": true, "1 0": true} {
		if n := e.Nodes[KeyOf(name)]; n == nil || n.Compared > 0 != want || n.Weight() == 0 {
			t.Errorf("node %s: %+v", name, n)
		}
	}
	e = New()
	h = hour(0, []float64{1, 1}, []float64{1, 1})
	h.Pulls = true
	e.Add(h)
	if n := e.Nodes[KeyOf("0 0")]; n.Compared > 0 {
		t.Error("a workload that pulls compares nodes")
	}
}

func knowsWhereItIsNotKnownHowBusyNodesAre(t *testing.T) {
	e := New()
	h := hour(0, []float64{1, math.Exp(0.1), math.Exp(0.4)}, []float64{1, 1})
	h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.7
	e.Add(h)
	if c := only(t, e); !near(c.Like.Busy[0], 0.5) || c.Like.Busy[1] >= 0 {
		t.Errorf("%+v", c.Like)
	}
	if s := e.Slowdown[0]; !near(s.Products/s.Squares, 0.25) {
		t.Errorf("two of three nodes show no slowdown: %+v", s)
	}
	h = hour(1, []float64{2, 2}, []float64{2, 2})
	h.Replicas[2].Busy, h.Replicas[3].Busy = 0.8, 0.8
	e.Add(h)
	if c := only(t, e); !near(c.Like.Busy[0], 0.5) || !near(c.Like.Busy[1], 0.8) {
		t.Errorf("%+v", c.Like)
	}
}

func isCopiedAsAWhole(t *testing.T) {
	e := New()
	stay(e, "n2d", 0, 2, 0.001, 0)
	stay(e, "n4", 2, 2, 0.0008, 0)
	inZones(e, 200, 1.2)
	c := e.Clone()
	if !reflect.DeepEqual(c, e) {
		t.Fatal("the copy differs")
	}
	before := e.Clone()
	stay(e, "n2d", 10, 3, 0.002, 0)
	inZones(e, 2000, 1.5)
	e.Forget(began + 2000 + forgotten)
	if !reflect.DeepEqual(c, before) {
		t.Error("the copy changes")
	}
}

func knowsHowBusyNodesSlowReplicasDown(t *testing.T) {
	e := New()
	h := hour(0, []float64{math.Exp(0.1), math.Exp(0.2)}, []float64{1, 1})
	h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.7
	e.Add(h)
	if s := e.Slowdown[0]; !near(s.Products/s.Squares, 0.25) {
		t.Errorf("%+v", s)
	}
	if s := e.Slowdown[1]; s != (Slowdown{}) {
		t.Errorf("of unknown nodes: %+v", s)
	}
	if n := e.Nodes[KeyOf("0 1")]; !near(n.Busy/n.Weight(), 0.4) {
		t.Errorf("the busier node is %v busier than the other", n.Busy/n.Weight())
	}
}

// learnsLittleOfNodesFromFewReplicasThatAreFarFromOthers lets replicas that were alike for a day differ a hundredfold where nodes are busy.
func learnsLittleOfNodesFromFewReplicasThatAreFarFromOthers(t *testing.T) {
	e := New()
	for at := range int64(24) {
		e.Add(hour(at, []float64{1, 1.01}, []float64{1, 1.01}))
	}
	h := hour(24, []float64{0.1, 10}, []float64{1, 1})
	h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.7
	e.Add(h)
	most := 3 * math.Sqrt(leastSpread+e.Workloads[1].spread())
	if s := e.Slowdown[0]; s.Squares == 0 || s.Products/s.Squares > most/0.2+1e-9 {
		t.Errorf("%+v: slowdown %.2f", s, s.Products/s.Squares)
	}
	if d := e.Nodes[KeyOf("0 1")].Halves[1]; d.Sum > most/leastSpread+7 {
		t.Errorf("the node deviates by %+v", d)
	}
}

func learnsNothingOfNodesFromReplicasThatHardlyUseCPU(t *testing.T) {
	e := New()
	for at := range int64(24) {
		h := hour(at, []float64{0.019, 0.021, 0.019, 0.021}, []float64{0.019, 0.019, 0.019, 0.019})
		for i := range h.Replicas {
			h.Replicas[i].Busy, h.Replicas[i].Zone = 0.1*float64(i), fmt.Sprint(i/2%2)
		}
		e.Add(h)
	}
	if c := only(t, e); c.Hours() == 0 {
		t.Error("it is not compared: estimates say why it does not count")
	}
	if s := e.Slowdown[0]; len(e.Nodes) > 0 || len(e.Places) > 0 || s != (Slowdown{}) {
		t.Errorf("%+v, %d nodes, %d places", s, len(e.Nodes), len(e.Places))
	}
}

func learnsLittleOfNodesFromReplicasThatDifferByThemselves(t *testing.T) {
	e := New()
	for w, more := range []float64{0, 2} {
		h := hour(0, []float64{math.Exp(0.1 - more), math.Exp(0.2 + more)}, []float64{1, 1})
		h.Workload = Key(2*w + 1)
		h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.7
		e.Add(h)
	}
	if s := e.Slowdown[0]; s.Products/s.Squares > 0.5 {
		t.Errorf("slowdown %.2f", s.Products/s.Squares)
	}
	if d := e.Nodes[KeyOf("0 1")].Halves[1].Mean(); d > 0.15 {
		t.Errorf("the node deviates by %.2f", d)
	}
}

func weightsAnHourByTheSpreadOfOthers(t *testing.T) {
	e := New()
	spread := 0.0
	for at, by := range []float64{0.2, 0.8} {
		h := hour(int64(at), []float64{math.Exp(-by), math.Exp(by)}, []float64{1, 1})
		h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.7
		before := 0.0
		if at > 0 {
			before = e.Slowdown[0].Squares
		}
		e.Add(h)
		if got, want := e.Slowdown[0].Squares-before, 0.08/(leastSpread+spread); at > 0 && math.Abs(got/want-1) > 0.01 {
			t.Errorf("weight %v, want %v", got, want)
		}
		spread = (only(t, e).Spread[0] + only(t, e).Spread[1]) / 2
	}
}

func isBounded(t *testing.T) {
	e := New()
	for at := range int64(100) {
		h := Hour{Workload: 1, At: began + at}
		for i := range 40 {
			h.Replicas = append(h.Replicas, Replica{NodeType: fmt.Sprint(i / 2), CPU: 1, Whole: true})
		}
		e.Add(h)
	}
	w := e.Workloads[1]
	if len(w.Cells) != MostCells {
		t.Fatalf("%d cells", len(w.Cells))
	}
	for i := range w.Cells {
		if w.Cells[i].Hours() < 40 {
			t.Errorf("cell %d was replaced: %.0f hours", i, w.Cells[i].Hours())
		}
	}
}

func forgets(t *testing.T) {
	e := New()
	e.Add(hour(0, []float64{1, 1}, []float64{1, 1}))
	if e.Forget(began + 2*HalfLife); len(e.Workloads) != 1 || len(e.Nodes) == 0 {
		t.Error("too early")
	}
	if e.Forget(began + 2*HalfLife + 1); len(e.Workloads) != 0 || len(e.Nodes) != 0 {
		t.Error("too late")
	}
	e.Add(hour(0, []float64{1, 1}, []float64{1, 1}))
	e.Add(hour(HalfLife, []float64{1, 1}, []float64{1, 1}))
	if n := only(t, e).Like.N; math.Abs(n-1.5) > 1e-9 {
		t.Errorf("weight %v, want 1.5", n)
	}
	e = New()
	for _, at := range []int64{0, HalfLife} {
		h := hour(at, []float64{1, 1}, []float64{1, 1})
		h.Replicas[0].Busy, h.Replicas[1].Busy = 0.3, 0.5
		e.Add(h)
	}
	if s := e.Slowdown[0].Squares; !near(s, 1.5*0.02/leastSpread) {
		t.Errorf("the weight of slowdowns is %v", s)
	}
}

// BenchmarkAdd adds an hour of 150,000 replicas of 10,000 workloads on three of eight types.
func BenchmarkAdd(b *testing.B) {
	const workloads, kinds, each = 10_000, 3, 5
	e := New()
	names := make([]string, 8)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	hours := make([]Hour, workloads)
	for w := range hours {
		h := Hour{Workload: Key(w)}
		for i := range kinds * each {
			h.Replicas = append(h.Replicas, Replica{
				Node: Key((w*7 + i*13) % 5000 * 8), NodeType: names[(w+i/each)%len(names)], Zone: "a", CPU: 1 + 0.1*float64(i%each), Request: 1, Busy: 0.5, Whole: true,
			})
		}
		hours[w] = h
	}
	for at := began; b.Loop(); at++ {
		for w := range hours {
			hours[w].At = int64(at)
			e.Add(hours[w])
		}
	}
}

// BenchmarkClone copies what is known of 10,000 workloads.
func BenchmarkClone(b *testing.B) {
	e := New()
	for i := range 10_000 {
		e.Workloads[Key(i)] = &Workload{Cells: make([]Cell, MostCells)}
		e.Nodes[Key(i)] = &Node{}
	}
	for b.Loop() {
		e.Clone()
	}
}
