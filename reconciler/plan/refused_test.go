package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestRefused(t *testing.T) {
	t.Run("keeps the QoS class in a revert", keepsTheQoSClassInARevert)
	t.Run("does not report a recorded answer as a resize", doesNotReportARecordedAnswerAsAResize)
	t.Run("records a different answer although an earlier one counts", recordsADifferentAnswerAlthoughAnEarlierOneCounts)
	t.Run("does not record a node type for a pod without its originals", doesNotRecordANodeTypeForAPodWithoutItsOriginals)
}

// Another actor swapped which resource has a limit above its request, and we overrode that. Of
// the sizes that the node still has, only memory can be reverted to.
func keepsTheQoSClassInARevert(t *testing.T) {
	has := podtest.Amounts{"1", "2", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "2Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "1", "original-cpu-limit.app", "1", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi", "applied-instance-type", "n2d"))
	s := snapshotOf(t, p, podtest.Node("n2d"))
	s.Now = podtest.At(100)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds, External: OverrideExternal}).Plan(s)
	if c := &plan.Containers[0]; plan.Kind == PutBack || c.Desired != c.Current {
		t.Errorf("%v becomes %v, which is %s", c.Current, c.Desired, sizing.QOSClass([]sizing.Container{c.Desired}))
	}
}

// refusedCPU is a pod with a cpu request of 1 whose node refuses any change to cpu, and whose
// size cannot be reverted because of a bound.
func refusedCPU(t *testing.T, options ...func(*corev1.Pod)) *Snapshot {
	has := podtest.Amounts{"1600m", "1600m", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, append([]func(*corev1.Pod){podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4")}, options...)...)
	p.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Table, s.Now = tableOf(t, 1.25, 1, &ratios.Bounds{CPU: sizing.Range{Min: 50, Max: 1000}}), podtest.At(100)
	return s
}

func doesNotReportARecordedAnswerAsAResize(t *testing.T) {
	s := refusedCPU(t)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if steps := stepsOf(plan.Writes(s.Now)); len(steps) != 1 || steps[0] != StepInfeasible {
		t.Fatalf("the plan writes %v", steps)
	}
	outcome := plan.Outcome()
	if deed := plan.Deed(outcome); len(outcome) != 0 || deed != "Pod annotated" {
		t.Errorf("got %v, %q", outcome, deed)
	}
}

func recordsADifferentAnswerAlthoughAnEarlierOneCounts(t *testing.T) {
	const memory = `Resize is infeasible for Guaranteed Pods alongside Memory Manager policy "Static"`
	answered := func(message string) *Plan {
		return (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(refusedCPU(t, podtest.Annotated("infeasible", "2026-11-21T00:00:30Z v1.36.3/boot-1 "+message),
			podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))))
	}
	if plan := answered(memory); plan.noteInfeasible == "" {
		t.Error("the answer about cpu is not recorded because there is one about memory")
	}
	if plan := answered(podtest.StaticCPU); plan.noteInfeasible != "" {
		t.Errorf("recorded again: %s", plan.noteInfeasible)
	}
}

func doesNotRecordANodeTypeForAPodWithoutItsOriginals(t *testing.T) {
	has := podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20))
	p.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.At(100)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if !plan.lost {
		t.Fatal("the originals are known")
	}
	for _, w := range plan.Writes(s.Now) {
		if _, ok := w.Annotations[contract.AppliedInstanceType]; ok {
			t.Errorf("%s writes %s", w.Step, contract.AppliedInstanceType)
		}
	}
}
