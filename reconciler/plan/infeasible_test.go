package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestInfeasible(t *testing.T) {
	t.Run("one pod finds out for all of its node", onePodFindsOutForAllOfItsNode)
}

func onePodFindsOutForAllOfItsNode(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refused := podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20)
	refusedPod := podtest.Pod(sized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), refused, podtest.SizedForN4, podtest.AsResized)
	refusedPod.Status.Conditions[0].Message = podtest.StaticCPU
	s := snapshotOf(t, refusedPod, podtest.Booted("v1.36.3", "boot-1"))
	s.Now = podtest.Start.Add(time.Minute)
	plan := planner.Plan(s)
	if plan.Kind != PutBack || plan.noteInfeasible != "2026-11-21T00:01:00Z v1.36.3/boot-1 "+podtest.StaticCPU {
		t.Fatalf("%v because of %v, and records %q", plan.Decision, plan.Reasons, plan.noteInfeasible)
	}
	// Stopped between its two writes, it does not write the first again.
	recorded := refusedPod.DeepCopy()
	podtest.Annotated("infeasible", plan.noteInfeasible)(recorded)
	podtest.ManagedBy(podtest.Managed(contract.FieldManager, "", 12, contract.Infeasible))(recorded)
	s.Pod, s.Now = pod.From(recorded), podtest.Start.Add(2*time.Minute)
	if again := planner.Plan(s); again.Kind != PutBack || again.noteInfeasible != "" {
		t.Errorf("stopped and planned again: %v, and records %q", again.Decision, again.noteInfeasible)
	}
	// Another pod of the node, in another process.
	other := snapshotOf(t, podtest.Pod(podtest.Guaranteed, podtest.AsCreated), s.Around.Node)
	other.Now = podtest.Start.Add(time.Hour)
	other.Around.Infeasible, other.InfeasibleUntil = []string{podtest.StaticCPU}, podtest.Start.Add(InfeasibleFor)
	plan = planner.Plan(other)
	if plan.Decision != Skip || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.ReplanAt.Equal(other.InfeasibleUntil) {
		t.Errorf("%v because of %v, again at %v", plan.Decision, plan.Reasons, plan.ReplanAt)
	}
	// Once it counts no more, the next record takes the annotation away.
	recorded.Status.Conditions = nil
	s.Pod = pod.From(recorded)
	s.Now = podtest.Start.Add(2 * InfeasibleFor)
	if plan := planner.Plan(s); plan.record(s.Now)[contract.Infeasible] != nil || !plan.dropInfeasible {
		t.Errorf("two days later: %v because of %v", plan.Decision, plan.Reasons)
	}
}
