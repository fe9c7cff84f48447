package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// putBack turns a plan without changes into one that reverts the sizes that the node refuses,
// so that the spec shows the real sizes and no other resource of the pod stays blocked. It
// returns false if there is nothing to revert that we may change.
func (p *Planner) putBack(plan *Plan, s *Snapshot, now progress, bounds policy.Bounds) bool {
	if !plan.sized || now.code != contract.ResizeInfeasible && now.code != contract.ResizeError {
		return false
	}
	for i := range plan.Containers {
		c := &plan.Containers[i]
		back := c.Current
		if now.code == contract.ResizeInfeasible {
			back = c.of.Allocated()
		} else if has := c.of.InForce(); has.Memory.Limit > c.Current.Memory.Limit {
			// The kubelet stops at a memory limit that is below the container's usage.
			back.Memory = has.Memory
		}
		for _, r := range sizing.Measures {
			if c.standings[r.Index].Ours() && credible(*r.Of(&c.Original), *r.Of(&c.Current), *r.Of(&back), boundsOf(bounds, r), r.Scale) {
				*r.Of(&c.Desired) = *r.Of(&back)
			}
		}
	}
	before := plan.Reasons
	p.withhold(plan, s)
	plan.Reasons = before // Reasons about parts of the revert are not useful.
	// Each resource is checked separately, so together they may have another class.
	if plan.classAfter(s.Pod) != plan.QOSClass {
		plan.keepSizes()
	}
	plan.noteInfeasible = toRecord(s, now)
	if !plan.differs() {
		// The sizes stay. The answer is recorded so that other pods of the node need not ask.
		if stillInfeasible(s) && AnswerOf(s.Pod).Message == safety.WhateverTheAmounts(now.message) {
			plan.noteInfeasible = ""
		}
		return false
	}
	plan.Kind, plan.Decision = PutBack, Resize
	plan.Wanted = plan.asksFor(s, current)
	plan.Reasons = []Reason{{now.code, now.message}}
	if before := s.Pod.Record(); before != nil {
		// The container never had the refused size, so that reverting it lowers nothing.
		if record := plan.sizesRecord(desired).String(); record != before.String() {
			plan.recounted = record
		}
	}
	return true
}

// toRecord returns the value of the annotation for a refused size; empty if the node refuses
// only these amounts, or if the annotation has a recent answer with the same message.
func toRecord(s *Snapshot, now progress) string {
	message := safety.WhateverTheAmounts(now.message)
	if now.code != contract.ResizeInfeasible || message == "" || s.Around.Node == nil {
		return ""
	}
	said := pod.Answer{At: s.Now, Machine: MachineOf(s.Around.Node), Message: message}
	if before := s.Pod.Answer(); before != nil && before.Machine == said.Machine && before.Message == said.Message && s.Now.Sub(before.At).Abs() < time.Hour {
		return ""
	}
	return said.String()
}

// credible reports whether a container may have had a size: the size is the original, the
// current size, or within bounds. A writer of a pod's status need not be its kubelet, and must
// not be able to set any other size.
func credible(original, has, wanted sizing.Amount, bounds sizing.Range, scale func(sizing.Amount, sizing.Factor, sizing.Range) (sizing.Amount, bool)) bool {
	if wanted == has || wanted == original {
		return true
	}
	if original.Request <= 0 || wanted.Request <= 0 {
		return false
	}
	scaled, clamped := scale(original, sizing.Factor{Num: uint64(wanted.Request), Den: uint64(original.Request)}, bounds)
	inBounds := !clamped || wanted.Request == original.Request || wanted.Request == has.Request
	return inBounds && wanted.Limit <= max(scaled.Limit, original.Limit, has.Limit)
}
