package policy_test

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
)

func TestObjective(t *testing.T) {
	above, below := policy.Objective{Name: "a", Above: new(1.0)}, policy.Objective{Name: "a", Below: new(1.0)}
	for value, want := range map[float64][2]bool{0.9: {false, true}, 1: {}, 1.1: {true, false}, math.Inf(1): {true, false}, math.NaN(): {}} {
		if got := [2]bool{above.IsBrokenBy(value), below.IsBrokenBy(value)}; got != want {
			t.Errorf("%v breaks %v, want %v", value, got, want)
		}
	}
	for _, tc := range []struct{ a, b, above, below float64 }{{1, 2, 2, 1}, {2, 1, 2, 1}, {math.NaN(), 1, 1, 1}, {1, math.NaN(), 1, 1}} {
		if a, b := above.Worse(tc.a, tc.b), below.Worse(tc.a, tc.b); a != tc.above || b != tc.below {
			t.Errorf("of %v and %v, %v and %v are worse", tc.a, tc.b, a, b)
		}
	}
	guard := func(all ...policy.Objective) policy.Profile { return guarded(policy.Guard{Objectives: all}) }
	of := guard(above)
	for i, other := range []policy.Objective{below, {Name: "b", Above: new(1.0)}, {Name: "a", Above: new(2.0)}, {Name: "a", Query: "up", Above: new(1.0)}, {Name: "a", Prometheus: "http://a", Above: new(1.0)}} {
		if changed := guard(other); of.GuardsAs(&changed) {
			t.Errorf("%d: %+v is the same as %+v", i, other, above)
		}
	}
	same, none := guard(policy.Objective{Name: "a", Above: new(1.0)}), guard()
	if !of.GuardsAs(&same) || of.GuardsAs(&none) {
		t.Error("equal objectives are not the same, or one is the same as none")
	}
}
