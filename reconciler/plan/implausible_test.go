package plan

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestImplausible(t *testing.T) {
	t.Run("resizes at the maximum", resizesAtTheMaximum)
	t.Run("skips the pod as a whole if one resource is implausible", skipsThePodAsAWholeIfOneResourceIsImplausible)
	t.Run("counts as a veto if the pod would get different sizes", countsAsAVetoIfThePodWouldGetDifferentSizes)
	t.Run("restores a pod", restoresAPodWithAnImplausibleRatio)
	t.Run("adopts nothing", adoptsNothingAtAnImplausibleRatio)
}

func resizesAtTheMaximum(t *testing.T) {
	plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}), 5, 0.2, "")
	if c := plan.Containers[0].Desired; plan.Decision != Resize || c.CPU.Request != 200 || c.Memory.Request != 5*podtest.GiB {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

func skipsThePodAsAWholeIfOneResourceIsImplausible(t *testing.T) {
	plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}), 1.25, 100, "")
	if c := plan.Containers[0]; plan.Decision != Skip || plan.Reasons[0].Code != contract.ImplausibleRatio || c.Desired != c.Current || plan.Pending() {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

func countsAsAVetoIfThePodWouldGetDifferentSizes(t *testing.T) {
	for _, tc := range []struct {
		cpu, memory float64
		want        bool
	}{{125, 1, true}, {1, 125, false}} {
		plan := planAt(t, &Planner{OwnerKinds: DefaultOwnerKinds}, podtest.Pod(podtest.Amounts{"1", "", "", ""}), tc.cpu, tc.memory, "")
		if plan.Decision != Skip || plan.Vetoed != tc.want {
			t.Errorf("cpu %v, memory %v: %v, vetoed %v", tc.cpu, tc.memory, plan.Decision, plan.Vetoed)
		}
	}
}

func restoresAPodWithAnImplausibleRatio(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.AsResized, podtest.SizedForN4)
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Table, s.Restore = tableOf(t, 1e308, 1, nil), true
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if c := plan.Containers[0].Desired.CPU; plan.Decision != Resize || c.Request != 1000 || c.Limit != 1000 {
		t.Errorf("%v %v because of %v", plan.Decision, c, plan.Reasons)
	}
}

// An original that is computed with an implausible factor would stay wrong after the factor is
// corrected.
func adoptsNothingAtAnImplausibleRatio(t *testing.T) {
	planner := &Planner{OwnerKinds: DefaultOwnerKinds, External: AdoptExternal}
	p := resizedBy(podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith), "they", podtest.Amounts{"2", "", "1Gi", ""})
	if plan := planAt(t, planner, p, 125, 1, ""); plan.Pending() || plan.Reasons[0].Code != contract.ImplausibleRatio {
		t.Errorf("%v because of %v", plan.Decision, plan.Reasons)
	}
	p = carriedOut(t, p, planAt(t, planner, p, 1.25, 1, ""), 30)
	if got := p.Annotations[contract.CPURequest.Key("app")]; got != "2500m" {
		t.Errorf("after the correction, the original is %q", got)
	}
}
