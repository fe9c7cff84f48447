package plan

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestInfeasible(t *testing.T) {
	t.Run("learns from one pod for all pods of its node", learnsFromOnePodForAllPodsOfItsNode)
	t.Run("records a refusal that cannot be reverted", recordsARefusalThatCannotBeReverted)
	t.Run("asks a node again although a revert waits for longer", asksANodeAgainAlthoughARevertWaitsForLonger)
}

func learnsFromOnePodForAllPodsOfItsNode(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refused := podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20)
	refusedPod := podtest.Pod(sized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), refused, podtest.SizedForN4, podtest.AsResized)
	refusedPod.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, refusedPod, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.Start.Add(time.Minute)
	plan := planner.Plan(s)
	if plan.Kind != RevertRefused || noted(plan) != "2026-11-21T00:01:00Z v1.36.3/boot-1 "+podtest.StaticCPU {
		t.Fatalf("%v because of %v, and records %q", plan.Decision, plan.Reasons, noted(plan))
	}
	// After a stop between the two writes, the first one is not repeated.
	recorded := refusedPod.DeepCopy()
	podtest.Annotated("infeasible", noted(plan))(recorded)
	podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))(recorded)
	s.Pod, s.Now = pod.From(recorded), podtest.Start.Add(2*time.Minute)
	if again := planner.Plan(s); again.Kind != RevertRefused || noted(again) != "" {
		t.Errorf("stopped and planned again: %v, and records %q", again.Decision, noted(again))
	}
	// Another pod of the node, in another process.
	other := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), s.Around.Node)
	other.Now = podtest.Start.Add(time.Hour)
	other.Around.Infeasible, other.InfeasibleUntil = []string{podtest.StaticCPU}, podtest.Start.Add(InfeasibleFor)
	plan = planner.Plan(other)
	if plan.Decision != Skip || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.ReplanAt.Equal(other.InfeasibleUntil) {
		t.Errorf("%v because of %v, again at %v", plan.Decision, plan.Reasons, plan.ReplanAt)
	}
	// Once the answer no longer counts, the next record removes the annotation.
	recorded.Status.Conditions = nil
	delete(recorded.Annotations, contract.AppliedInstanceType)
	s.Pod = pod.From(recorded)
	s.Now = podtest.Start.Add(2 * InfeasibleFor)
	plan = planner.Plan(s)
	if value, removed := actionsAt(plan, s.Now)[0].Annotations[contract.Infeasible]; !removed || value != nil {
		t.Errorf("two days later: %v because of %v", plan.Decision, plan.Reasons)
	}
}

// The bounds have changed, and what the node has allocated is outside of them.
func recordsARefusalThatCannotBeReverted(t *testing.T) {
	has := podtest.Amounts{"1600m", "1600m", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"1", "1", "1Gi", "1Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20),
		podtest.Annotated("original-cpu.app", "2", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "1Gi", "applied-instance-type", "n4"))
	p.Status.Conditions[0].Message = podtest.StaticCPU
	planner := &Planner{OwnerKinds: DefaultOwnerKinds}
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Table, s.Now = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Min: 50, Max: 1000}}), podtest.At(100)
	plan := planner.Plan(s)
	if plan.Decision != Align || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.Pending() {
		t.Fatalf("%v because of %v, pending %t", plan.Decision, plan.Reasons, plan.Pending())
	}
	if steps := stepsOf(actionsAt(plan, s.Now)); !slices.Equal(steps, []Step{StepInfeasible}) {
		t.Errorf("the plan writes %v", steps)
	}
	s.Pod = pod.From(carriedOut(t, p, plan, 100))
	if again := planner.Plan(s); again.Pending() {
		t.Errorf("the plan writes again: %v", stepsOf(actionsAt(again, s.Now)))
	}
}

func asksANodeAgainAlthoughARevertWaitsForLonger(t *testing.T) {
	until := podtest.At(500)
	p := contained(t, leaky(sized(podtest.Amounts{"500m", "500m", "1Gi", "1Gi"}), memoryReverted("5")), 400, func(s *Snapshot) {
		s.Around.Node, s.Table = podtest.Node("n4"), tableOf(t, 4, 1.6, nil)
		s.Around.Infeasible, s.InfeasibleUntil = []string{podtest.StaticCPU}, until
	})
	if p.Decision != Skip || p.Reasons[0].Code != contract.ResizeInfeasible || !p.ReplanAt.Equal(until) {
		t.Errorf("%v because of %v, again at %v", p.Decision, p.Reasons, p.ReplanAt)
	}
}

func stepsOf(writes []Action) (all []Step) {
	for _, w := range writes {
		all = append(all, w.Step)
	}
	return all
}

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
	if c := &plan.Containers[0]; plan.Kind == RevertRefused || c.Desired != c.Current {
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
	s.Table, s.Now = tableOf(t, 1.25, 1, &policy.Bounds{CPU: sizing.Range{Min: 50, Max: 1000}}), podtest.At(100)
	return s
}

func doesNotReportARecordedAnswerAsAResize(t *testing.T) {
	s := refusedCPU(t)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if steps := stepsOf(actionsAt(plan, s.Now)); len(steps) != 1 || steps[0] != StepInfeasible {
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
	if plan := answered(memory); noted(plan) == "" {
		t.Error("the answer about cpu is not recorded because there is one about memory")
	}
	if plan := answered(podtest.StaticCPU); noted(plan) != "" {
		t.Errorf("recorded again: %s", noted(plan))
	}
}

func doesNotRecordANodeTypeForAPodWithoutItsOriginals(t *testing.T) {
	has := podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(has, has), podtest.AsResized, podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20))
	p.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, p, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.At(100)
	plan := (&Planner{OwnerKinds: DefaultOwnerKinds}).Plan(s)
	if !slices.Contains(codes(plan), contract.InvalidAnnotation) {
		t.Fatal("the originals are known")
	}
	for _, w := range actionsAt(plan, s.Now) {
		if _, ok := w.Annotations[contract.AppliedInstanceType]; ok {
			t.Errorf("%s writes %s", w.Step, contract.AppliedInstanceType)
		}
	}
}
