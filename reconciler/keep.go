package reconciler

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// keep plans a pod whose spec is what it should be, as far as it is ours to change:
// unless its node refuses it, it is aligned.
func (p *Planner) keep(plan *Plan, s *Snapshot, now progress, bounds ratios.Bounds) *Plan {
	if p.putBack(plan, s, now, bounds) {
		return plan
	}
	plan.Decision = Align
	// Of a pod that lost an original, nothing is made to look as if it were known.
	unfinished := plan.sized && plan.applied != plan.NodeType && !plan.lost || plan.corrected || plan.adoptionsChange()
	switch held := plan.heldBack(); {
	case now.code != "":
		plan.explainBounds()
		plan.before(now.code, orKubeletSaysNothing(now.message))
	case plan.left && !unfinished:
		// What was to be done is done, and people have to know what was not.
		plan.Decision = Skip
	case plan.left:
	case !held:
		plan.explainBounds()
		plan.before(contract.AlreadyAligned, "the requests are what node type "+plan.NodeType+" needs")
	case plan.applied == "" && !plan.resized() && !plan.sized:
		// Nothing was ever done to the pod, and nothing can be.
		plan.Decision = Skip
	}
	return plan
}

func orKubeletSaysNothing(message string) string {
	if message == "" {
		return "the kubelet says nothing more"
	}
	return message
}

// unready says why the sizes of a pod must not be changed just now; whole says that
// less of a change must not be either.
func (p *Plan) unready(s *Snapshot, now progress) (veto *safety.Veto, whole bool) {
	if p.kind == restore {
		return nil, false // What a person asked for is not kept waiting.
	}
	if r := s.Refused; r != nil && r.keeps(p, s) {
		return &safety.Veto{Reason: r.Reason.Code, Message: r.Reason.Message}, true
	}
	switch {
	case now.code == contract.ResizeInProgress && !now.overdue:
		return &safety.Veto{Reason: now.code, Message: "the resize before is not done yet"}, true
	case now.code == contract.ResizeDeferred && p.grows():
		// Less than what waits may be what the node has room for.
		return &safety.Veto{Reason: now.code, Message: "the resize before still waits: " + now.message}, false
	}
	return nil, false
}

// putBack makes of a plan that leaves the spec as it is one that takes back what
// the node refuses, so that the spec does not lie and nothing else of the pod
// stays blocked. It returns false if there is nothing of ours to take back.
func (p *Planner) putBack(plan *Plan, s *Snapshot, now progress, bounds ratios.Bounds) bool {
	if !plan.sized || now.code != contract.ResizeInfeasible && now.code != contract.ResizeError {
		return false
	}
	for i := range plan.Containers {
		c := &plan.Containers[i]
		back, status := c.Current, c.status(s.Pod)
		if now.code == contract.ResizeInfeasible {
			back = allocated(c.Current, status)
		} else if has := inForce(c.Current, status); has.Memory.Limit > c.Current.Memory.Limit {
			// The kubelet does not get past a memory limit that is below what
			// the container uses.
			back.Memory = has.Memory
		}
		for _, r := range measures {
			if c.standings[r.index].ours() {
				*r.of(&c.Desired) = *r.of(&back)
			}
		}
	}
	before := plan.Reasons
	p.holdBack(plan, s)
	plan.Reasons = before // What it holds back of this is no news.
	if !plan.differs() {
		return false
	}
	if !plan.credible(bounds) {
		plan.keepSizes()
		return false
	}
	plan.kind, plan.Decision = putBack, Resize
	plan.wanted = plan.demand(s, current)
	plan.noteInfeasible = toRecord(s, now)
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
	said := answer{s.Now, machineOf(s.Around.Node), message}
	if before, ok := parseAnswer(s.Pod.Annotations[contract.Infeasible]); ok && before.machine == said.machine && before.message == said.message && s.Now.Sub(before.at).Abs() < time.Hour {
		return ""
	}
	return said.String()
}

// credible tells whether the pod may have had the desired sizes: they are what its
// author asked for, what it has, or within bounds. Who may write a pod's status need
// not be its kubelet, and must not get it any other sizes by that.
func (p *Plan) credible(bounds ratios.Bounds) bool {
	for i := range p.Containers {
		c := &p.Containers[i]
		for _, r := range measures {
			if !credible(*r.of(&c.Original), *r.of(&c.Current), *r.of(&c.Desired), r.bounds(bounds), r.scale) {
				return false
			}
		}
	}
	return true
}

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

func current(c *ContainerPlan) *sizing.Container { return &c.Current }
func desired(c *ContainerPlan) *sizing.Container { return &c.Desired }

// demand is what is asked of a node, as one text to be compared: the sizes, and what the
// node has.
func (p *Plan) demand(s *Snapshot, of func(*ContainerPlan) *sizing.Container) string {
	text := fmt.Sprint(p.Node, amountsOf(p, of))
	if node := s.Around.Node; node != nil {
		text += " " + node.Status.Allocatable.Cpu().String() + " " + node.Status.Allocatable.Memory().String() + " " + machineOf(node)
	}
	return text
}

// status is what the kubelet says of the container, nil if it says nothing.
func (c *ContainerPlan) status(pod *corev1.Pod) *corev1.ContainerStatus {
	if c.Sidecar {
		return safety.StatusOf(c.Name, pod.Status.InitContainerStatuses)
	}
	return safety.StatusOf(c.Name, pod.Status.ContainerStatuses)
}
