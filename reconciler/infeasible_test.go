package reconciler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

func TestOnePodFindsOutForAllOfItsNode(t *testing.T) {
	sized := amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refused := said(corev1.PodResizePending, "Infeasible", 5, 20)
	refusedPod := podWith(sized, withStatus(guaranteed, guaranteed), refused, sizedForN4, asResized)
	refusedPod.Status.Conditions[0].Message = staticCPU
	s := snapshotOf(t, refusedPod, booted("v1.36.3", "boot-1"))
	s.Now = start.Add(time.Minute)
	plan := planner.Plan(s)
	if plan.kind != putBack || plan.noteInfeasible != "2026-11-21T00:01:00Z v1.36.3/boot-1 "+staticCPU {
		t.Fatalf("%v because of %v, and records %q", plan.Decision, plan.Reasons, plan.noteInfeasible)
	}
	// Stopped between its two writes, it does not write the first again.
	recorded := refusedPod.DeepCopy()
	annotated("infeasible", plan.noteInfeasible)(recorded)
	managedBy(managed(contract.FieldManager, "", 12, contract.Infeasible))(recorded)
	s.Pod, s.Now = pod.From(recorded), start.Add(2*time.Minute)
	if again := planner.Plan(s); again.kind != putBack || again.noteInfeasible != "" {
		t.Errorf("stopped and planned again: %v, and records %q", again.Decision, again.noteInfeasible)
	}
	// Another pod of the node, in another process.
	other := snapshotOf(t, podWith(guaranteed, asCreated), s.Around.Node)
	other.Now = start.Add(time.Hour)
	other.Around.Infeasible, other.InfeasibleUntil = []string{staticCPU}, start.Add(infeasibleFor)
	plan = planner.Plan(other)
	if plan.Decision != Skip || plan.Reasons[0].Code != contract.ResizeInfeasible || !plan.replanAt.Equal(other.InfeasibleUntil) {
		t.Errorf("%v because of %v, again at %v", plan.Decision, plan.Reasons, plan.replanAt)
	}
	// Once it counts no more, the next record takes the annotation away.
	recorded.Status.Conditions = nil
	s.Pod = pod.From(recorded)
	s.Now = start.Add(2 * infeasibleFor)
	if plan := planner.Plan(s); plan.record(s.Now)[contract.Infeasible] != nil || !plan.dropInfeasible {
		t.Errorf("two days later: %v because of %v", plan.Decision, plan.Reasons)
	}
}
