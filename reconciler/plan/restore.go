package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// restore plans that the pod gets its originals again and loses every trace of
// us. What the pod asks for itself (to be skipped) or who owns it does not
// matter: its originals are only what it was created with. It gives back what it can,
// and where that is not everything, keeps the record of all.
func (p *Planner) restore(plan *Plan, s *Snapshot) *Plan {
	plan.Kind = Restore
	asked := *s
	asked.Around.Infeasible = nil // What a person asked for is tried.
	s = &asked
	switch {
	case s.Pod.Terminating():
		return plan.Skip(&safety.Veto{Reason: contract.Terminating, Message: "the pod is being deleted"})
	case s.Pod.Finished():
		return plan.Skip(&safety.Veto{Reason: contract.Finished, Message: "the pod has ended, and nothing of it can be resized"})
	case !s.Pod.AnybodyResized() && !s.Pod.Marked() && !s.Pod.RecordCut():
		return plan.Skip(asWritten)
	}
	plan.fillOriginals(s.Pod)
	plan.Reasons = nil // That an annotation is wrong does not matter any more.
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
			plan.because(veto.Reason, veto.Message+"; so this stays: "+strings.Join(left, ", "))
			plan.leaveAlone()
		}
	}
	if len(plan.Reasons) == 0 {
		plan.before(contract.Restored, "the pod is to have what its author asked for")
		// The record does not tell that a pod has that, if it is cut: the originals do.
		plan.keepOriginals = s.Pod.RecordCut()
		if plan.Decision == Align && !plan.sized && (!s.Pod.Marked() || s.Pod.RecordCut() && s.Pod.OnlyOriginals()) {
			return plan.Skip(asWritten)
		}
		return plan
	}
	// Without the annotations, what is not given back would be lost. What can change by
	// itself is told first, as the pod waits for that.
	plan.keepRecord = true
	slices.SortStableFunc(plan.Reasons, func(a, b Reason) int { return cmp.Compare(Waits(b.Code), Waits(a.Code)) })
	if plan.Decision == Align && !plan.awaits {
		plan.Decision = Skip
	}
	return plan
}

// awaitLimits has a restore keep the record until the node has lowered the memory limits
// that it lowers: the kubelet does not where more is used, and gives back nothing else of
// the pod as long.
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

// asWritten leaves a pod that needs no restore.
var asWritten = &safety.Veto{Reason: contract.Restored, Message: "the pod has what its author asked for, and is kept so"}

// giveBack has a resource get its original, and says why where it does not.
func (p *Plan) giveBack(c *ContainerPlan, r *sizing.Measure, override bool) {
	s, original, present := &c.standings[r.Index], *r.Of(&c.Original), *r.Of(&c.Current)
	known := c.knows(r)
	switch {
	case present.Request == 0, known && original == present:
		// Whoever set it: it is what its author asked for.
	case s.Claim == pod.Scales, s.Claim == pod.Theirs && known && override:
		*r.Of(&c.Desired) = original
	case s.Claim == pod.Theirs, s.Claim == pod.Lost:
		p.explainStays(c, r)
	case s.Claim == pod.LimitStays:
		p.because(contract.InvalidAnnotation, fmt.Sprintf("container %s: %s limit stays, which came after the author, or whose original got lost", c.Name, r.Name))
		if present.Request != present.Limit { // What is equal keeps the QoS class.
			*r.Of(&c.Desired) = settle(*s, r, present, original)
		}
	}
}

// Removes reports whether a whole restore removes the annotation.
func (p *Plan) Removes(key string) bool {
	if p.keepOriginals && contract.IsOriginal(key) {
		return false
	}
	return contract.Ours(key)
}
