package reconciler

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// restore plans that the pod gets its originals again and loses every trace of
// us. What the pod asks for itself (to be skipped) or who owns it does not
// matter: its originals are only what it was created with.
func (p *Planner) restore(plan *Plan, s *Snapshot, h *history) *Plan {
	plan.kind = restore
	switch {
	case s.Pod.DeletionTimestamp != nil:
		return plan.skip(&safety.Veto{Reason: contract.Terminating, Message: "the pod is being deleted"})
	case h.ours.IsZero() && !marked(s.Pod):
		return plan.skip(&safety.Veto{Reason: contract.Restored, Message: "the pod has what its author asked for, and is kept so"})
	}
	if veto := fillOriginals(plan, s.Pod, h); veto != nil {
		return plan.skip(veto)
	}
	plan.Reasons = nil
	if h.external() {
		plan.because(contract.ExternallyResized, "the sizes stay, "+h.other+" set them; only the annotations go")
	} else if !finishedPod(s.Pod) {
		for i := range plan.Containers {
			c := &plan.Containers[i]
			c.want(c.Original)
		}
		p.holdBack(plan, s.Pod)
	}
	plan.Decision = Align
	if plan.heldBack() {
		// Without its annotations what is held back would be lost.
		plan.keepRecord = true
		if !plan.differs() {
			return plan.skip(&safety.Veto{Reason: plan.Reasons[0].Code, Message: plan.Reasons[0].Message})
		}
	}
	if plan.differs() {
		if veto := plan.unready(s, s.progress(h.ours)); veto != nil {
			return plan.skip(veto)
		}
		before, after := plan.sizes(s.Pod)
		if veto := safety.Change(s.Pod, plan.QOSClass, before, after, &s.Around); veto != nil {
			return plan.skip(veto)
		}
		plan.Decision = Resize
	}
	if !plan.keepRecord {
		plan.first(contract.Restored, "the pod is to have what its author asked for")
	}
	return plan
}

func finishedPod(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// marked tells whether the pod has annotations of ours; that it is to be skipped
// is not one of these.
func marked(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if ours(key) {
			return true
		}
	}
	return false
}

// ours tells whether the reconciler writes the annotation.
func ours(key string) bool {
	return key == contract.AppliedInstanceType || key == contract.AppliedAt || key == contract.AdoptedAt || strings.HasPrefix(key, contract.OriginalPrefix)
}
