package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestProgress(t *testing.T) {
	t.Run("expires the kubelet's conditions", expiresTheKubeletsConditions)
	t.Run("chooses the next step from the kubelet's conditions", choosesTheNextStepFromTheKubeletsConditions)
	t.Run("reports a resize as actuated when the containers run with it", reportsAResizeAsActuatedWhenTheContainersRunWithIt)
	t.Run("reverts a pod only to sizes that it may have had", revertsAPodOnlyToSizesThatItMayHaveHad)
	t.Run("keeps the record of a restore until the node has lowered memory limits", keepsTheRecordOfARestoreUntilTheNodeHasLoweredMemoryLimits)
}

func expiresTheKubeletsConditions(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	pending, progress := corev1.PodResizePending, corev1.PodResizeInProgress
	for _, tc := range []struct {
		name     string
		says     func(*corev1.Pod)
		nodeType string
		at       time.Time
		decision Decision
		reason   contract.Reason
		again    time.Time
	}{
		{"waits five minutes for a resize in progress", podtest.Said(progress, "", 5, 20), "big", podtest.At(20).Add(patience - time.Second), Skip, contract.ResizeInProgress, podtest.At(20).Add(patience)},
		{"resizes after five minutes", podtest.Said(progress, "", 5, 20), "big", podtest.At(20).Add(patience), Resize, "", time.Time{}},
		{"does not treat an overdue resize as completed", podtest.Said(progress, "", 5, 20), "n4", podtest.At(20).Add(patience), Align, contract.ResizeInProgress, time.Time{}},
		{"ignores an earlier condition without a generation", podtest.Said(pending, "Infeasible", 0, 7), "n4", podtest.At(20), Align, contract.AlreadyAligned, podtest.At(10).Add(lookedAt)},
		{"counts a condition once the kubelet must have observed the resize", podtest.Said(pending, "Infeasible", 0, 7), "n4", podtest.At(10).Add(lookedAt), Resize, contract.ResizeInfeasible, time.Time{}},
		{"counts a condition within the clock skew immediately", podtest.Said(pending, "Infeasible", 0, 9), "n4", podtest.At(12), Resize, contract.ResizeInfeasible, time.Time{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(sized, tc.says, podtest.SizedForN4, podtest.AsResized, podtest.WithStatus(podtest.Guaranteed, podtest.Guaranteed))
			s := snapshotOf(t, p, podtest.Node(tc.nodeType))
			s.Now = tc.at
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(s)
			reason := contract.Reason("")
			if len(plan.Reasons) > 0 {
				reason = plan.Reasons[0].Code
			}
			if plan.Decision != tc.decision || reason != tc.reason || !plan.ReplanAt.Equal(tc.again) {
				t.Errorf("%v because of %v, again at %v; want %v because of %q, %v", plan.Decision, plan.Reasons, plan.ReplanAt, tc.decision, tc.reason, tc.again)
			}
			s.Restore = true
			if plan := planner.Plan(s); plan.Decision != Resize || plan.Containers[0].Desired != podtest.Guaranteed.Container() {
				t.Errorf("a restore does not wait: %v because of %v", plan.Decision, plan.Reasons)
			}
		})
	}
}

func choosesTheNextStepFromTheKubeletsConditions(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	pending, progress := corev1.PodResizePending, corev1.PodResizeInProgress
	for _, tc := range []struct {
		name     string
		says     []func(*corev1.Pod)
		nodeType string
		decision Decision
		reasons  []contract.Reason
	}{
		{"aligns without conditions", nil, "n4", Align, []contract.Reason{contract.AlreadyAligned}},
		{"reports a deferred resize", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeDeferred}},
		{"reports a resize in progress", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeInProgress}},
		{"reports the more urgent of two conditions", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20), podtest.Said(pending, "Deferred", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeDeferred}},
		{"skips another resize while one is in progress", []func(*corev1.Pod){podtest.Said(progress, "", 5, 20)}, "big", Skip, []contract.Reason{contract.ResizeInProgress}},
		{"skips an increase while a resize is deferred", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "slow", Skip, []contract.Reason{contract.ResizeDeferred}},
		{"allows a decrease while a resize is deferred", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 5, 20)}, "big", Resize, nil},
		{"replaces an infeasible resize", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20)}, "big", Resize, nil},
		{"counts an earlier error once the kubelet has observed the spec", []func(*corev1.Pod){podtest.Said(progress, "Error", 4, 20), podtest.Seen(5)}, "n4", Align, []contract.Reason{contract.ResizeError}},
		{"counts an earlier deferral once the kubelet has observed the spec", []func(*corev1.Pod){podtest.Said(pending, "Deferred", 4, 20), podtest.Seen(5)}, "slow", Skip, []contract.Reason{contract.ResizeDeferred}},
		{"ignores a pending condition of an allocated size", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20), podtest.WithStatus(sized, sized)}, "n4", Align, []contract.Reason{contract.AlreadyAligned}},
		{"ignores a condition of an earlier generation", []func(*corev1.Pod){podtest.Said(progress, "", 4, 20)}, "big", Resize, nil},
		{"ignores a condition without a generation before our resize", []func(*corev1.Pod){podtest.Said(progress, "", 0, 7)}, "big", Resize, nil},
		{"counts a condition without a generation after our resize", []func(*corev1.Pod){podtest.Said(progress, "", 0, 10)}, "big", Skip, []contract.Reason{contract.ResizeInProgress}},
		{"reports an infeasible resize without a status", []func(*corev1.Pod){podtest.Said(pending, "Infeasible", 5, 20)}, "n4", Align, []contract.Reason{contract.ResizeInfeasible}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(sized, append(tc.says, podtest.SizedForN4, podtest.AsResized)...)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(snapshotOf(t, p, podtest.Node(tc.nodeType)))
			if plan.Decision != tc.decision || !cmp.Equal(codes(plan), tc.reasons) {
				t.Errorf("%v because of %v, want %v because of %v", plan.Decision, plan.Reasons, tc.decision, tc.reasons)
			}
		})
	}
}

func reportsAResizeAsActuatedWhenTheContainersRunWithIt(t *testing.T) {
	sized := podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"with the spec", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Seen(5)), true},
		{"with the spec, on a kubelet without generations", podtest.Pod(sized, podtest.WithStatus(sized, sized)), true},
		{"not yet with the spec", podtest.Pod(sized, podtest.WithStatus(sized, podtest.Guaranteed), podtest.Seen(5)), false},
		{"before the kubelet has observed the spec", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Seen(4)), false},
		{"while a condition remains", podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.Said(corev1.PodResizeInProgress, "", 5, 1)), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := pod.From(tc.pod).Actuated(); got != tc.want {
				t.Errorf("actuated: %v, want %v", got, tc.want)
			}
		})
	}
}

func revertsAPodOnlyToSizesThatItMayHaveHad(t *testing.T) {
	for _, tc := range []struct {
		name      string
		allocated podtest.Amounts
		want      bool
	}{
		{"the originals", podtest.Guaranteed, true},
		{"a different size within bounds", podtest.Amounts{"1500m", "1500m", "1Gi", "1Gi"}, true},
		{"more cpu than bounds allow", podtest.Amounts{"64", "64", "1Gi", "1Gi"}, false},
		{"less cpu than bounds allow", podtest.Amounts{"1m", "1m", "1Gi", "1Gi"}, false},
		{"more memory than bounds allow", podtest.Amounts{"800m", "800m", "1000Gi", "1000Gi"}, false},
		{"more memory than bounds allow, with acceptable cpu", podtest.Amounts{"1", "1", "1000Gi", "1000Gi"}, true},
		{"a limit far above its request", podtest.Amounts{"1", "64", "1Gi", "1Gi"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.WithStatus(tc.allocated, tc.allocated), podtest.Said(corev1.PodResizePending, "Infeasible", 5, 20), podtest.SizedForN4, podtest.AsResized)
			planner := Planner{OwnerKinds: DefaultOwnerKinds}
			plan := planner.Plan(snapshotOf(t, p, podtest.Node("n4")))
			if got := plan.Kind == RevertRefused; got != tc.want {
				t.Errorf("reverted: %v, to %v; want %v", got, plan.Containers[0].Desired, tc.want)
			}
			if memory := plan.Containers[0].Desired.Memory.Request; memory != 1<<30 {
				t.Errorf("reverted to %d bytes of memory", memory)
			}
			if !tc.want && (plan.Decision != Align || plan.Reasons[0].Code != contract.ResizeInfeasible) {
				t.Errorf("%v because of %v", plan.Decision, plan.Reasons)
			}
		})
	}
}

func keepsTheRecordOfARestoreUntilTheNodeHasLoweredMemoryLimits(t *testing.T) {
	sized := podtest.Amounts{"1", "1", "2Gi", "2Gi"}
	planner := Planner{OwnerKinds: DefaultOwnerKinds}
	restoring := func(p *corev1.Pod) *Plan {
		s := snapshotOf(t, p, podtest.Node("n4"))
		s.Restore = true
		return planner.Plan(s)
	}
	p := podtest.Pod(sized, podtest.WithStatus(sized, sized), podtest.SizedForN4, podtest.AsResized)
	plan := restoring(p)
	if plan.Decision != Resize || !keepsRecord(plan) || plan.Reasons[0].Code != contract.ResizeInProgress {
		t.Fatalf("%v because of %v", plan.Decision, plan.Reasons)
	}
	p = carriedOut(t, p, plan, 30)
	for _, tc := range []struct {
		name   string
		has    podtest.Amounts
		says   func(*corev1.Pod)
		reason contract.Reason
		done   bool
	}{
		{"not done yet", sized, func(*corev1.Pod) {}, contract.ResizeInProgress, false},
		{"failed by the kubelet", sized, podtest.Said(corev1.PodResizeInProgress, "Error", 5, 20), contract.ResizeError, false},
		{"done", podtest.Guaranteed, func(*corev1.Pod) {}, contract.Restored, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := p.DeepCopy()
			podtest.WithStatus(tc.has, tc.has)(now)
			tc.says(now)
			plan := restoring(now)
			if plan.Decision != Align || plan.Reasons[0].Code != tc.reason || plan.Pending() != tc.done || keepsRecord(plan) == tc.done {
				t.Errorf("%v because of %v, pending: %v", plan.Decision, plan.Reasons, plan.Pending())
			}
		})
	}
}
