package plan

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestTakeOver(t *testing.T) {
	t.Run("keeps originals of another controller after our resize", keepsOriginalsOfAnotherControllerAfterOurResize)
	t.Run("keeps originals of a controller whose resize we override", keepsOriginalsOfAControllerWhoseResizeWeOverride)
	t.Run("becomes the owner of an original that another controller wrote in odd bytes", becomesTheOwnerOfAnOriginalThatAnotherControllerWroteInOddBytes)
}

// Another controller recorded the originals and stopped before it resized the pod. After our
// resize, they are still known.
func keepsOriginalsOfAnotherControllerAfterOurResize(t *testing.T) {
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

// Another controller recorded the originals, resized the pod, and stopped before it recorded
// that. After we override the resize, the originals are still known.
func keepsOriginalsOfAControllerWhoseResizeWeOverride(t *testing.T) {
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

// Every amount has several spellings.
func becomesTheOwnerOfAnOriginalThatAnotherControllerWroteInOddBytes(t *testing.T) {
	for _, memory := range []string{"123456789", "1000000", "1k", "1023", "1Gi"} {
		p := podtest.Pod(podtest.Amounts{"1", "", memory, ""}, asMadeWith)
		has := p.Spec.Containers[0].Resources.Requests.Memory()
		podtest.Annotated("original-memory.app", has.String(), "original-cpu.app", "1")(p)
		p.ManagedFields = append(p.ManagedFields, podtest.Managed("published", "", 5, contract.OriginalPrefix+"cpu.app", contract.OriginalPrefix+"memory.app"))
		plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(snapshotOf(t, p, podtest.Node("n4")))
		written := plan.unrecorded(podtest.At(10))[contract.MemoryRequest.Key("app")]
		if written == nil || *written == has.String() {
			t.Errorf("for %s, %v is written", memory, written)
			continue
		}
		if amount, err := sizing.ParseMemory(*written); err != nil || amount != has.Value() {
			t.Errorf("for %s, %q is written: %d, %v", memory, *written, amount, err)
		}
	}
}
