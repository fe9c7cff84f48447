package loop

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestRefusals(t *testing.T) {
	t.Run("keeps refusals across a change of leaders", keepsRefusalsAcrossAChangeOfLeaders)
	t.Run("does not try a refused size again until something changes", doesNotTryARefusedSizeAgainUntilSomethingChanges)
}

func keepsRefusalsAcrossAChangeOfLeaders(t *testing.T) {
	l := newLedger(testMetrics())
	l.refusedBy(&plan.Plan{Kind: plan.RevertRefused, Decision: plan.Resize, Wanted: &plan.Asked{}, Reasons: []plan.Reason{{Code: contract.ResizeInfeasible, Message: podtest.StaticCPU}}}, podtest.Start)
	if refused, _ := l.refusal(types.NamespacedName{}, "", podtest.Start); refused != nil {
		t.Errorf("a refusal of any size prevents a smaller size: %+v", refused)
	}
	p := &plan.Plan{Kind: plan.RevertRefused, Decision: plan.Resize, Wanted: &plan.Asked{}, Reasons: []plan.Reason{{Code: contract.ResizeError, Message: "below usage"}}}
	// A replica that does not lead sees the refusal twice before the leader reverts the pod.
	l.refusedBy(p, podtest.Start)
	l.refusedBy(p, podtest.Start.Add(time.Second))
	l.startOver()
	refused, left := l.refusal(p.Pod, p.UID, podtest.Start.Add(time.Second))
	if refused == nil || !refused.Waiting || refused.Retry || left != firstRefusal-time.Second {
		t.Fatalf("%+v for %v", refused, left)
	}
	if refused, left := l.refusal(p.Pod, p.UID, podtest.Start.Add(firstRefusal)); !refused.Retry || left != 0 {
		t.Errorf("no retry after the pause: %+v, %v", refused, left)
	}
	for range 20 {
		l.succeeded(p, "1", podtest.Start)
	}
	if _, left := l.refusal(p.Pod, p.UID, podtest.Start); left != longRefusal {
		t.Errorf("the pause has grown to %v", left)
	}
}

func doesNotTryARefusedSizeAgainUntilSomethingChanges(t *testing.T) {
	l := newLedger(testMetrics())
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}
	refusedPod := podtest.Pod(sized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized)
	p := planner.Plan(alone(t, refusedPod, podtest.Node("n4")))
	if p.Kind != plan.RevertRefused || p.Containers[0].Desired != podtest.Guaranteed.Container() {
		t.Fatalf("%v to %v because of %v", p.Decision, p.Containers[0].Desired, p.Reasons)
	}
	l.succeeded(p, "9", podtest.Start)

	back := podtest.Pod(podtest.Guaranteed, podtest.SizedForN4, podtest.AsResized)
	decide := func(nodeType string, now time.Time) *plan.Plan {
		s := alone(t, back, podtest.Node(nodeType))
		s.Refused, _ = l.refusal(p.Pod, p.UID, now)
		return planner.Plan(s)
	}
	later := podtest.Start.Add(plan.InfeasibleFor - time.Second)
	if got := decide("n4", later); got.Decision != plan.Skip || got.Reasons[0].Code != contract.ResizeInfeasible || got.Reasons[0].Message != "why" {
		t.Errorf("the same size within a day: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("n4", later.Add(time.Second)); got.Decision != plan.Resize {
		t.Errorf("the same size after a day, in which the node may have changed: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("slow", podtest.Start); got.Decision != plan.Skip {
		t.Errorf("a larger size immediately: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("slow", podtest.Start.Add(firstRefusal)); got.Decision != plan.Skip {
		t.Errorf("a larger size after the pause, which the node cannot satisfy either: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("slow", later.Add(time.Second)); got.Decision != plan.Resize {
		t.Errorf("a larger size after a day: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("big", podtest.Start); got.Decision != plan.Resize {
		t.Errorf("a smaller size immediately: %v because of %v", got.Decision, got.Reasons)
	}
	l.succeeded(p, "10", podtest.Start.Add(firstRefusal))
	if _, left := l.refusal(p.Pod, p.UID, podtest.Start.Add(firstRefusal)); left != 2*firstRefusal {
		t.Errorf("a pause of %v after the second time", left)
	}
	if refused, _ := l.refusal(p.Pod, "another", podtest.Start); refused != nil {
		t.Error("the refusal counts for another pod of the same name")
	}
}
