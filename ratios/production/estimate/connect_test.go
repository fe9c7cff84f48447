package estimate

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// island adds workloads that compare c3 with c4, which nothing compares with other types. Their ratios are far from those of
// others. If they run on others, too, it is in a workload that compares e2 with n2d.
func island(e *evidence.Evidence, inOthers bool) {
	e.Types = append(e.Types, "c3", "c4")
	e.Slowdown = append(e.Slowdown, evidence.Slowdown{}, evidence.Slowdown{})
	for i := range 40 {
		far := cell(3, 4, 1+0.3*math.Sin(float64(i)))
		if w := e.Workloads[evidence.Key(2*i)]; inOthers {
			w.Cells = append(w.Cells, far)
		} else {
			e.Workloads[evidence.Key(1000+i)] = using(1, far)
		}
	}
}

func TestConnected(t *testing.T) {
	t.Run("types that are not connected have no ratio, and disturb no others", typesThatAreNotConnectedHaveNoRatio)
	t.Run("a workload that misleads connects no types", aWorkloadThatMisleadsConnectsNoTypes)
	t.Run("says why nothing is compared with an unknown baseline", saysWhyNothingIsComparedWithAnUnknownBaseline)
}

func typesThatAreNotConnectedHaveNoRatio(t *testing.T) {
	for _, inOthers := range []bool{false, true} {
		e := chain(200)
		want := of(t, Estimate(e, "e2", Defaults()), "n4")
		island(e, inOthers)
		r := Estimate(e, "e2", Defaults())
		if got := of(t, r, "n4"); math.Abs(got.Population.Ratio/want.Population.Ratio-1) > 1e-4 || math.Abs(got.Population.half()/want.Population.half()-1) > 0.01 {
			t.Errorf("in others: %v: %+v, want %+v", inOthers, got, want)
		}
		for _, name := range []string{"c3", "c4"} {
			if x := of(t, r, name); x.Cluster != (Interval{}) || !reflect.DeepEqual(codes(x), []Code{NotCompared}) {
				t.Errorf("in others: %v: %+v", inOthers, x)
			}
		}
		held := r.Workloads[len(r.Workloads)-1].Held
		if !inOthers && held != NotConnected {
			t.Errorf("held for %q", held)
		}
		if inOthers && r.Workloads[0].Held != "" {
			t.Errorf("a workload that is connected, too, is held for %q", r.Workloads[0].Held)
		}
	}
}

func aWorkloadThatMisleadsConnectsNoTypes(t *testing.T) {
	e := chain(200)
	island(e, false)
	bridge := cell(0, 3, 5) // Nothing is 150 times as fast.
	near := cell(0, 1, -2)
	e.Workloads[5000] = using(1, near, bridge)
	r := Estimate(e, "e2", Defaults())
	if held := r.Workloads[len(r.Workloads)-1].Held; held != Odd {
		t.Fatalf("held for %q: this test shows nothing", held)
	}
	if x := of(t, r, "c4"); x.Cluster != (Interval{}) || x.Workloads != 0 || x.Held[NotConnected] == 0 {
		t.Errorf("%+v", x)
	}
}

func saysWhyNothingIsComparedWithAnUnknownBaseline(t *testing.T) {
	r := Estimate(chain(200), "m1", Defaults())
	if len(r.Types) != 3 {
		t.Fatalf("%+v", r)
	}
	for _, x := range r.Types {
		if !reflect.DeepEqual(codes(x), []Code{NotCompared}) || x.Cluster != (Interval{}) {
			t.Errorf("%+v", x)
		}
	}
	if r := Estimate(evidence.New(), "m1", Defaults()); len(r.Types)+len(r.Workloads) > 0 {
		t.Errorf("of nothing: %+v", r)
	}
}

func TestOldEvidence(t *testing.T) {
	e := chain(200)
	// Half of the workloads on n4 ended 90 days ago, when it was slower.
	for key, w := range e.Workloads {
		if w.Last = 4 * evidence.HalfLife; key%4 == 1 {
			w.Last = evidence.HalfLife
			w.Cells[0].Like.Mean += 0.1
			letUse(w, 1000)
		}
	}
	r := Estimate(e, "n2d", Defaults())
	if x := of(t, r, "n4"); x.Workloads > 60 || math.Abs(x.Cluster.Ratio-1.2) > 0.03 {
		t.Errorf("%+v", x)
	}
}

func TestManyTypes(t *testing.T) {
	e := evidence.New()
	for i := range 100 {
		e.Types = append(e.Types, fmt.Sprint("t", i))
	}
	for i := range 1000 {
		e.Workloads[evidence.Key(i)] = using(1, cell(0, 1+i%99, 0.1))
	}
	r := Estimate(e, "t0", Defaults())
	for _, x := range r.Types {
		if math.Abs(x.Population.Ratio-math.Exp(0.1)) > 0.01 {
			t.Fatalf("%+v", x)
		}
	}
}
