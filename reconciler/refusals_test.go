package reconciler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestRefusalsOutlastAChangeOfLeaders(t *testing.T) {
	l := newLedger(testMetrics())
	l.refusedBy(&Plan{kind: putBack, Decision: Resize, wanted: "this", Reasons: []Reason{{contract.ResizeInfeasible, staticCPU}}}, start)
	if refused, _ := l.refusal(types.NamespacedName{}, "", start); refused != nil {
		t.Errorf("what its node refuses whatever the amounts keeps the pod from less: %+v", refused)
	}
	plan := &Plan{kind: putBack, Decision: Resize, wanted: "this", Reasons: []Reason{{contract.ResizeError, "below usage"}}}
	// A replica that does not lead sees it twice before the leader puts the pod back.
	l.refusedBy(plan, start)
	l.refusedBy(plan, start.Add(time.Second))
	l.beginAnew()
	refused, left := l.refusal(plan.Pod, plan.UID, start.Add(time.Second))
	if refused == nil || !refused.waiting || refused.retry || left != firstRefusal-time.Second {
		t.Fatalf("%+v for %v", refused, left)
	}
	if refused, left := l.refusal(plan.Pod, plan.UID, start.Add(firstRefusal)); !refused.retry || left != 0 {
		t.Errorf("what fails is tried again after the pause: %+v, %v", refused, left)
	}
	for range 20 {
		l.succeeded(plan, "1", start)
	}
	if _, left := l.refusal(plan.Pod, plan.UID, start); left != longRefusal {
		t.Errorf("the pause has grown to %v", left)
	}
}

func TestWhatANodeRefusedIsNotAskedForAgainUntilSomethingChanges(t *testing.T) {
	l := newLedger(testMetrics())
	sized := amounts{"800m", "800m", "1Gi", "1Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	refusedPod := podWith(sized, withStatus(guaranteed, guaranteed), said(corev1.PodResizePending, "Infeasible", 5, 20), sizedForN4, asResized)
	plan := planner.Plan(alone(t, refusedPod, node("n4")))
	if plan.kind != putBack || plan.Containers[0].Desired != guaranteed.Container() {
		t.Fatalf("%v to %v because of %v", plan.Decision, plan.Containers[0].Desired, plan.Reasons)
	}
	l.succeeded(plan, "9", start)

	back := podWith(guaranteed, sizedForN4, asResized)
	decide := func(nodeType string, now time.Time) *Plan {
		s := alone(t, back, node(nodeType))
		s.Refused, _ = l.refusal(plan.Pod, plan.UID, now)
		return planner.Plan(s)
	}
	later := start.Add(infeasibleFor - time.Second)
	if got := decide("n4", later); got.Decision != Skip || got.Reasons[0].Code != contract.ResizeInfeasible || got.Reasons[0].Message != "why" {
		t.Errorf("the same within a day: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("n4", later.Add(time.Second)); got.Decision != Resize {
		t.Errorf("the same after a day, in which the node may have changed: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("slow", start); got.Decision != Skip {
		t.Errorf("more at once: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("slow", start.Add(firstRefusal)); got.Decision != Resize {
		t.Errorf("more after the pause: %v because of %v", got.Decision, got.Reasons)
	}
	if got := decide("big", start); got.Decision != Resize {
		t.Errorf("less at once: %v because of %v", got.Decision, got.Reasons)
	}
	l.succeeded(plan, "10", start.Add(firstRefusal))
	if _, left := l.refusal(plan.Pod, plan.UID, start.Add(firstRefusal)); left != 2*firstRefusal {
		t.Errorf("after the second time a pause of %v", left)
	}
	if refused, _ := l.refusal(plan.Pod, "another", start); refused != nil {
		t.Error("it counts for another pod of that name")
	}
}
