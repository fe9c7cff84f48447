package estimate

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// loaded returns evidence of one type whose nodes are slow because they are busy, and for no other reason.
func loaded(nodes int, slowdown float64) *evidence.Evidence {
	const weight = 1000.0
	e := evidence.New()
	e.Types = []string{"e2"}
	e.Slowdown = make([]evidence.Slowdown, 1)
	for i := range nodes {
		busy := 0.2 * float64(i%3-1)
		h := evidence.Deviation{Weight: weight / 2, Sum: weight / 2 * slowdown * busy}
		e.Nodes[evidence.Key(i)] = &evidence.Node{Model: -1, Halves: [2]evidence.Deviation{h, h}, Busy: weight * busy}
		x := &e.Slowdown[0]
		x.Squares += weight * busy * busy
		x.Products += weight * slowdown * busy * busy
		x.Count += weight
	}
	return e
}

func TestSlowdowns(t *testing.T) {
	n := nodes{variance: 0.03 * 0.03, kinds: make([]kind, 1)}
	variance := func(count int) float64 {
		n.kinds[0].seen = count
		return slowdowns(loaded(count, 0.5), &n)[0].variance
	}
	// Each of 30 nodes was seen for as long as each of 3: ten times as much is known.
	if few, many := variance(3), variance(30); few < 4*many {
		t.Errorf("variance %.5f with 3 nodes, %.5f with 30", few, many)
	}
	// However long they are seen, 3 nodes show little.
	e := loaded(3, 0.5)
	e.Slowdown[0] = evidence.Slowdown{Squares: 1e9, Products: 0.5e9, Count: 1e9 / 0.027}
	n.kinds[0].seen = 3
	if v := slowdowns(e, &n)[0].variance; v < 0.03*0.03/(3*0.04) {
		t.Errorf("standard deviation %.4f of what only 3 nodes show", math.Sqrt(v))
	}
}

func TestSlowdownsOfTypes(t *testing.T) {
	n := nodes{kinds: make([]kind, 6)}
	e := evidence.New()
	for i, by := range []float64{0.5, 0.5, 0.5, 0.5, 0.5, 0} {
		e.Types = append(e.Types, string(rune('a'+i)))
		e.Slowdown = append(e.Slowdown, evidence.Slowdown{Squares: 1e5, Products: by * 1e5, Count: 1e6})
	}
	// The last type runs one thread per core.
	if slow := slowdowns(e, &n); math.Abs(slow[5].by) > 0.02 || math.Abs(slow[0].by-0.5) > 0.02 {
		t.Errorf("%+v", slow)
	}
	e.Slowdown[5] = evidence.Slowdown{}
	if slow := slowdowns(e, &n); math.Abs(slow[5].by-0.5) > 0.05 || slow[5].variance < 10*slow[0].variance {
		t.Errorf("a type of which nothing is known: %+v", slow)
	}
}

func TestSlowdownsThatAgree(t *testing.T) {
	n := nodes{kinds: make([]kind, 8)}
	e := evidence.New()
	for i := range 8 {
		by := 0.5 + 0.02*float64(i%2*2-1)
		e.Types = append(e.Types, string(rune('a'+i)))
		e.Slowdown = append(e.Slowdown, evidence.Slowdown{Squares: 2e3, Products: by * 2e3})
	}
	// They differ by less than is uncertain of each: what is common to them counts more.
	slow := slowdowns(e, &n)
	if d := slow[1].by - slow[0].by; d > 0.02 {
		t.Errorf("they still differ by %.3f", d)
	}
}

func TestSlowdownsAreBounded(t *testing.T) {
	n := nodes{kinds: make([]kind, 2)}
	for _, by := range []float64{3, -3} {
		e := evidence.New()
		for i := range 2 {
			e.Types = append(e.Types, string(rune('a'+i)))
			e.Slowdown = append(e.Slowdown, evidence.Slowdown{Squares: 1e5, Products: by * 1e5, Count: 1e6})
		}
		for _, s := range slowdowns(e, &n) {
			if s.by < 0 || s.by > mostSlowdown || by > 0 && s.by == 0 {
				t.Errorf("replicas show %v: %v", by, s.by)
			}
		}
	}
}

func TestNodes(t *testing.T) {
	s := Defaults()
	e := loaded(30, 0.5)
	if got := nodesOf(e, []slowdown{{by: 0.5}}, 0, &s); got.variance > 0.02*0.02 {
		t.Errorf("nodes differ by %.3f beyond how busy they are", math.Sqrt(got.variance))
	}
	if got := nodesOf(e, []slowdown{{}}, 0, &s); got.variance < 0.05*0.05 {
		t.Errorf("nodes differ by %.3f", math.Sqrt(got.variance))
	}
}
