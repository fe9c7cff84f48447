package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// putBack makes of a plan that leaves the spec as it is one that takes back what
// the node refuses, so that the spec does not lie and nothing else of the pod
// stays blocked. It returns false if there is nothing of ours to take back.
func (p *Planner) putBack(plan *Plan, s *Snapshot, now progress, bounds ratios.Bounds) bool {
	if !plan.sized || now.code != contract.ResizeInfeasible && now.code != contract.ResizeError {
		return false
	}
	for i := range plan.Containers {
		c := &plan.Containers[i]
		back := c.Current
		if now.code == contract.ResizeInfeasible {
			back = c.of.Allocated()
		} else if has := c.of.InForce(); has.Memory.Limit > c.Current.Memory.Limit {
			// The kubelet does not get past a memory limit that is below what
			// the container uses.
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
	plan.Reasons = before // What it holds back of this is no news.
	plan.noteInfeasible = toRecord(s, now)
	if !plan.differs() {
		// It stays what it is, and the other pods of the node need not ask for the same.
		if stillInfeasible(s) {
			plan.noteInfeasible = ""
		}
		return false
	}
	plan.Kind, plan.Decision = PutBack, Resize
	plan.Wanted = plan.asksFor(s, current)
	plan.Reasons = []Reason{{now.code, now.message}}
	return true
}

// toRecord is what the annotation is to say of a size that is put back; empty if
// the node refuses only these amounts, or it says so already.
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

// credible reports whether a container may have had a size: it is what its author asked
// for, what it has, or within bounds. Who may write a pod's status need not be its kubelet,
// and must not get it any other sizes by that.
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
