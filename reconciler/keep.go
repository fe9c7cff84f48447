package reconciler

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// keep plans a pod whose spec is what it should be: unless its node refuses it,
// it is aligned.
func (p *Planner) keep(plan *Plan, s *Snapshot, h *history, now progress, bounds ratios.Bounds) *Plan {
	if p.putBack(plan, s, h, now, bounds) {
		return plan
	}
	plan.Decision = Align
	plan.explainBounds()
	switch {
	case now.code != "":
		plan.first(now.code, orKubeletSaysNothing(now.message))
	case !plan.heldBack():
		plan.first(contract.AlreadyAligned, "the requests are what node type "+plan.NodeType+" needs")
	case plan.applied == "" && !plan.resized() && !h.resized():
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

// unready says why the sizes of a pod must not be changed just now.
func (p *Plan) unready(s *Snapshot, now progress) *safety.Veto {
	if r := s.Refused; r != nil && p.kind != restore && (r.waiting && (p.grows() || r.Reason.Code == contract.ResizeError) || r.wanted == p.demand(s, desired)) {
		return &safety.Veto{Reason: r.Reason.Code, Message: r.Reason.Message}
	}
	switch {
	case now.code == contract.ResizeInProgress:
		return &safety.Veto{Reason: now.code, Message: "the resize before is not done yet"}
	case now.code == contract.ResizeDeferred && p.grows():
		// Less than what waits may be what the node has room for.
		return &safety.Veto{Reason: now.code, Message: "the resize before still waits: " + now.message}
	}
	return nil
}

// putBack makes of a plan that leaves the spec as it is one that takes back what
// the node refuses, so that the spec does not lie and nothing else of the pod
// stays blocked. It returns false if there is nothing of ours to take back.
func (p *Planner) putBack(plan *Plan, s *Snapshot, h *history, now progress, bounds ratios.Bounds) bool {
	if h.ours.IsZero() || h.external() {
		return false
	}
	switch now.code {
	case contract.ResizeInfeasible:
		for i := range plan.Containers {
			c := &plan.Containers[i]
			c.Desired = allocated(c.Current, c.status(s.Pod))
		}
	case contract.ResizeError:
		// The kubelet does not get past a memory limit that is below what
		// the container uses.
		for i := range plan.Containers {
			c := &plan.Containers[i]
			if has := inForce(c.Current, c.status(s.Pod)); has.Memory.Limit > c.Current.Memory.Limit {
				c.Desired.Memory = has.Memory
			}
		}
	default:
		return false
	}
	before := plan.Reasons
	p.holdBack(plan, s.Pod)
	plan.Reasons = before
	if !plan.differs() || !plan.credible(bounds) {
		return false
	}
	plan.kind, plan.Decision = putBack, Resize
	plan.wanted = plan.demand(s, current)
	plan.Reasons = []Reason{{now.code, now.message}}
	return true
}

// credible tells whether the pod may have had the desired sizes: they are what its
// author asked for, what it has, or within bounds. Who may write a pod's status need
// not be its kubelet, and must not get it any other sizes by that.
func (p *Plan) credible(bounds ratios.Bounds) bool {
	for i := range p.Containers {
		c := &p.Containers[i]
		if !credible(c.Original.CPU, c.Current.CPU, c.Desired.CPU, sizing.Range(bounds.CPU), sizing.CPU) ||
			!credible(c.Original.Memory, c.Current.Memory, c.Desired.Memory, sizing.Range(bounds.Memory), sizing.Memory) {
			return false
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

// demand is what is asked of a node, as one text to be compared: the sizes, what
// the node has, and how often the containers were restarted, after which they use
// another amount of memory.
func (p *Plan) demand(s *Snapshot, of func(*ContainerPlan) *sizing.Container) string {
	restarts := int32(0)
	for i := range p.Containers {
		if status := p.Containers[i].status(s.Pod); status != nil {
			restarts += status.RestartCount
		}
	}
	text := fmt.Sprint(p.Node, amountsOf(p, of), restarts)
	if node := s.Around.Node; node != nil {
		text += " " + node.Status.Allocatable.Cpu().String() + " " + node.Status.Allocatable.Memory().String()
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
