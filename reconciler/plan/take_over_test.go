package plan

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestTakeOver(t *testing.T) {
	t.Run("originals that another wrote rightly are not lost by our resize", originalsThatAnotherWroteRightlyAreNotLostByOurResize)
	t.Run("originals of whose resize we override are not lost", originalsOfWhoseResizeWeOverrideAreNotLost)
	t.Run("an original of odd bytes that another wrote is taken over", anOriginalOfOddBytesThatAnotherWroteIsTakenOver)
}

// Another controller has recorded the originals and ended before it resized the pod. Once
// we have, they are still known.
func originalsThatAnotherWroteRightlyAreNotLostByOurResize(t *testing.T) {
	p := podtest.Pod(podtest.Guaranteed, asMadeWith)
	podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi")(p)
	p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node("n4"))), 10)
	if again := planner.Plan(snapshotOf(t, p, podtest.Node("big"))); again.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("on another node type: %v because of %v", again.Decision, again.Reasons)
	}
	s := snapshotOf(t, p, podtest.Node("n4"))
	s.Restore = true
	if restored := planner.Plan(s); restored.Decision != Resize || restored.keepRecord {
		t.Errorf("restored: %v because of %v", restored.Decision, restored.Reasons)
	}
}

// Another controller has recorded the originals and resized the pod, and ended before it
// said so. Once we have overridden that, they are still known.
func originalsOfWhoseResizeWeOverrideAreNotLost(t *testing.T) {
	p := podtest.Pod(podtest.Amounts{"1", "", "1Gi", ""}, asMadeWith)
	podtest.Annotated("original-cpu.app", "1", "original-memory.app", "1Gi")(p)
	p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
	p = resizedBy(p, "published", podtest.Amounts{"700m", "", "1Gi", ""})
	planner := Planner{OwnerKinds: DefaultOwnerKinds, External: OverrideExternal}
	p = carriedOut(t, p, planner.Plan(snapshotOf(t, p, podtest.Node("n4"))), 30)
	if again := planner.Plan(snapshotOf(t, p, podtest.Node("big"))); again.Containers[0].Desired.CPU.Request != 500 {
		t.Errorf("on another node type: %v because of %v", again.Decision, again.Reasons)
	}
}

// There are several ways to write any amount.
func anOriginalOfOddBytesThatAnotherWroteIsTakenOver(t *testing.T) {
	for _, memory := range []string{"123456789", "1000000", "1k", "1023", "1Gi"} {
		p := podtest.Pod(podtest.Amounts{"1", "", memory, ""}, asMadeWith)
		has := p.Spec.Containers[0].Resources.Requests.Memory()
		podtest.Annotated("original-memory.app", has.String(), "original-cpu.app", "1")(p)
		p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		written := plan.unrecorded(podtest.At(10))[contract.MemoryRequest.Key("app")]
		if written == nil || *written == has.String() {
			t.Errorf("of %s, %v is written", memory, written)
			continue
		}
		if amount, err := sizing.ParseMemory(*written); err != nil || amount != has.Value() {
			t.Errorf("of %s, %q is written: %d, %v", memory, *written, amount, err)
		}
	}
}
