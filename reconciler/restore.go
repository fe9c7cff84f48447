package reconciler

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// restore plans that the pod gets its originals again and loses every trace of
// us. What the pod asks for itself (to be skipped) or who owns it does not
// matter: its originals are only what it was created with. It gives back what it can,
// and where that is not everything, keeps the record of all.
func (p *Planner) restore(plan *Plan, s *Snapshot, h *history) *Plan {
	plan.kind = restore
	asked := *s
	asked.Around.Infeasible = nil // What a person asked for is tried.
	s = &asked
	switch {
	case s.Pod.DeletionTimestamp != nil:
		return plan.skip(&safety.Veto{Reason: contract.Terminating, Message: "the pod is being deleted"})
	case safety.Finished(s.Pod):
		return plan.skip(&safety.Veto{Reason: contract.Finished, Message: "the pod has ended, and nothing of it can be resized"})
	case !h.anybody && !marked(s.Pod) && !h.cut:
		return plan.skip(asWritten)
	}
	plan.fillOriginals(s.Pod, h)
	plan.Reasons = nil // That an annotation is wrong does not matter any more.
	for i := range plan.Containers {
		for _, r := range measures {
			plan.giveBack(&plan.Containers[i], r, p.External == OverrideExternal)
		}
	}
	p.holdBack(plan, s)
	plan.Decision = Align
	plan.awaitLimits(s, h)
	if plan.differs() {
		plan.Decision = Resize
		if veto := plan.agree(s, progress{}); veto != nil {
			left := plan.unlike(func(i int) *sizing.Container { return &plan.Containers[i].Current })
			plan.because(veto.Reason, veto.Message+"; so this stays: "+strings.Join(left, ", "))
			plan.leaveAlone()
		}
	}
	if len(plan.Reasons) == 0 {
		plan.before(contract.Restored, "the pod is to have what its author asked for")
		// The record does not tell that a pod has that, if it is cut: the originals do.
		plan.keepOriginals = h.cut
		if plan.Decision == Align && h.ours.IsZero() && (!marked(s.Pod) || h.cut && onlyOriginals(s.Pod)) {
			return plan.skip(asWritten)
		}
		return plan
	}
	// Without the annotations, what is not given back would be lost. What can change by
	// itself is told first, as the pod waits for that.
	plan.keepRecord = true
	slices.SortStableFunc(plan.Reasons, func(a, b Reason) int { return cmp.Compare(waits(b.Code), waits(a.Code)) })
	if plan.Decision == Align && !plan.awaits {
		plan.Decision = Skip
	}
	return plan
}

// awaitLimits has a restore keep the record until the node has lowered the memory limits
// that it lowers: the kubelet does not where more is used, and gives back nothing else of
// the pod as long.
func (p *Plan) awaitLimits(s *Snapshot, h *history) {
	now := s.progress(h)
	for i := range p.Containers {
		c := &p.Containers[i]
		has := inForce(c.Current, c.status(s.Pod)).Memory.Limit
		if c.Desired.Memory.Limit >= max(has, c.Current.Memory.Limit) {
			continue
		}
		p.awaits = true
		if now.code == contract.ResizeError {
			p.because(now.code, fmt.Sprintf("container %s: memory limit is not lowered yet: %s", c.Name, now.message))
		} else {
			p.because(contract.ResizeInProgress, fmt.Sprintf("container %s: memory limit is not lowered yet", c.Name))
		}
	}
}

// asWritten leaves a pod that needs no restore.
var asWritten = &safety.Veto{Reason: contract.Restored, Message: "the pod has what its author asked for, and is kept so"}

// giveBack has a resource get its original, and says why where it does not.
func (p *Plan) giveBack(c *ContainerPlan, r *measure, override bool) {
	s, original, present := &c.standings[r.index], *r.of(&c.Original), *r.of(&c.Current)
	known := c.knows(r)
	switch {
	case present.Request == 0, known && original == present:
		// Whoever set it: it is what its author asked for.
	case s.claim == scales, s.claim == theirs && known && override:
		*r.of(&c.Desired) = original
	case s.claim == theirs, s.claim == lost:
		p.explainStays(c, r)
	case s.claim == limitStays:
		p.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s limit stays, which came after the author, or whose original got lost", c.Name, r.name))
		if present.Request != present.Limit { // What is equal keeps the QoS class.
			*r.of(&c.Desired) = s.settle(r, present, original)
		}
	}
}

// removes reports whether a whole restore removes the annotation.
func (p *Plan) removes(key string) bool {
	if p.keepOriginals && strings.HasPrefix(key, contract.OriginalPrefix) {
		return false
	}
	return ours(key)
}

// onlyOriginals reports whether originals are all annotations of ours that a pod has.
func onlyOriginals(pod *corev1.Pod) bool {
	for key := range pod.Annotations {
		if ours(key) && !strings.HasPrefix(key, contract.OriginalPrefix) {
			return false
		}
	}
	return true
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
	switch key {
	case contract.AppliedInstanceType, contract.AppliedAt, contract.AdoptedAt, contract.OriginalsBy, contract.Infeasible:
		return true
	}
	return strings.HasPrefix(key, contract.OriginalPrefix) || strings.HasPrefix(key, contract.AdoptedPrefix)
}
