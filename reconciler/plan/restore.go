package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// restore plans to return the pod to its originals and to remove our annotations. The skip
// annotation and the pod's owner do not matter: the originals are only what the pod was
// created with. It restores what it can and, if that is not everything, keeps all records.
func (p *Planner) restore(plan *Plan, s *Snapshot) *Plan {
	plan.Kind, plan.Emergency = Restore, s.Emergency
	asked := *s
	asked.Around.Infeasible = nil // A restore that a user requested is tried anyway.
	s = &asked
	switch {
	case s.Pod.Terminating():
		return plan.Skip(&safety.Veto{Reason: contract.Terminating, Message: "the pod is being deleted"})
	case s.Pod.Finished():
		return plan.Skip(&safety.Veto{Reason: contract.Finished, Message: "the pod has ended and can no longer be resized"})
	case !s.Pod.AnybodyResized() && !s.Pod.Marked() && !s.Pod.RecordCut():
		return plan.Skip(asWritten)
	case s.Frozen != "":
		return plan.Skip(&safety.Veto{Reason: contract.Frozen, Message: s.Frozen})
	}
	plan.fillOriginals(s.Pod)
	plan.Reasons = nil // Wrong annotations no longer matter.
	for i := range plan.Containers {
		for _, r := range sizing.Measures {
			plan.giveBack(&plan.Containers[i], r, p.External == OverrideExternal)
		}
	}
	p.withhold(plan, s)
	plan.Decision = Align
	plan.awaitLimits(s)
	if plan.differs() {
		plan.Decision = Resize
		if veto := plan.agree(s, progress{}); veto != nil {
			left := plan.unlike(func(i int) *sizing.Container { return &plan.Containers[i].Current })
			plan.because(veto.Reason, veto.Message+"; not restored: "+joined(left, ", "))
			plan.leaveAlone()
		}
	}
	if len(plan.Reasons) == 0 {
		plan.before(contract.Restored, "the pod gets its originals again"+plan.inEmergency())
		// If managedFields are cut, only the originals prove that the pod has its originals.
		plan.keepOriginals = s.Pod.RecordCut()
		if plan.Decision == Align && !plan.sized && (!s.Pod.Marked() || s.Pod.RecordCut() && s.Pod.OnlyOriginals()) {
			return plan.Skip(asWritten)
		}
		return plan
	}
	// Without the annotations, the originals that are not restored would be lost. Reasons
	// that can change by themselves come first, because the pod waits for them.
	plan.keepRecord = true
	slices.SortStableFunc(plan.Reasons, func(a, b Reason) int { return cmp.Compare(Waits(b.Code), Waits(a.Code)) })
	if plan.Decision == Align && !plan.awaits {
		plan.Decision = Skip
	}
	return plan
}

// awaitLimits keeps the record of a restore that lowers memory limits until the node has
// lowered them: the kubelet does not lower a limit below the usage, and restores nothing else
// of the pod until then.
func (p *Plan) awaitLimits(s *Snapshot) {
	now := s.progress()
	for i := range p.Containers {
		c := &p.Containers[i]
		has := c.of.InForce().Memory.Limit
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

// inEmergency returns what messages about an emergency restore add; empty for other restores.
func (p *Plan) inEmergency() string {
	if p.Emergency {
		return " in an emergency restore"
	}
	return ""
}

// asWritten skips a pod that needs no restore.
var asWritten = &safety.Veto{Reason: contract.Restored, Message: "the pod has its originals and keeps them"}

// giveBack restores the original of a resource, or adds the reason why it stays.
func (p *Plan) giveBack(c *ContainerPlan, r *sizing.Measure, override bool) {
	s, original, present := &c.standings[r.Index], *r.Of(&c.Original), *r.Of(&c.Current)
	known := c.knows(r)
	switch {
	case present.Request == 0, known && original == present:
		// The resource has its original, regardless of who set it.
	case s.Claim == pod.Scales, s.Claim == pod.Theirs && known && override:
		*r.Of(&c.Desired) = original
	case s.Claim == pod.Theirs, s.Claim == pod.Lost:
		p.explainStays(c, r)
	case s.Claim == pod.LimitStays:
		p.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s limit stays: it was added after the pod was created, or its original is lost", c.Name, r.Name))
		if present.Request != present.Limit { // An equal limit keeps the QoS class.
			*r.Of(&c.Desired) = settle(*s, r, present, original)
		}
	}
}

// Removes reports whether a complete restore removes the annotation.
func (p *Plan) Removes(key string) bool {
	if p.keepOriginals && contract.IsOriginal(key) {
		return false
	}
	return contract.Ours(key)
}
