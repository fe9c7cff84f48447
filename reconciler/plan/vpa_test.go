package plan

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestVPA(t *testing.T) {
	memory := &safety.VPA{Name: "tuner", Active: true, Policies: []safety.VPAPolicy{{Container: "*", Resources: []string{"memory"}}}}
	fraction := podtest.Pod(podtest.Amounts{"1", "", "1.1Gi", ""}, asMadeWith)
	for _, external := range Externals {
		s := snapshotOf(t, fraction, podtest.Node("n4"))
		s.VPA = memory
		p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s)
		want := resourcesPatch{Requests: amountsPatch{CPU: "800m"}}
		if p.Decision != Resize || p.sizesPatch().Containers[0].Resources != want {
			t.Errorf("%s: %v because of %v patches %+v, want %+v", external, p.Decision, p.Reasons, p.sizesPatch(), want)
		}
		resized := resizedBy(fraction.DeepCopy(), "updater", podtest.Amounts{"1", "", "2Gi", ""})
		s = snapshotOf(t, resized, podtest.Node("n4"))
		s.VPA = memory
		if p := (&Planner{OwnerKinds: DefaultOwnerKinds, External: external}).Plan(s); *sizing.Memory.Of(&p.Containers[0].Desired) != *sizing.Memory.Of(&p.Containers[0].Current) || p.Containers[0].adopts != 0 {
			t.Errorf("%s: memory that the autoscaler has set becomes %v, because of %v", external, p.Containers[0].Desired, p.Reasons)
		}
	}
	s := snapshotOf(t, podtest.Pod(podtest.Guaranteed, asMadeWith), podtest.Node("n4"))
	s.VPA = &safety.VPA{Name: "tuner", Active: true}
	if p := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s); p.Decision != Skip || p.Reasons[0].Code != contract.ActiveVPA {
		t.Errorf("an autoscaler of all resources: %v because of %v", p.Decision, p.Reasons)
	}
}
