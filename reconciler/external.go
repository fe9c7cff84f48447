package reconciler

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// External says what becomes of a pod that somebody else resized.
type External string

const (
	// LeaveExternal leaves it alone.
	LeaveExternal External = "leave"
	// AdoptExternal takes the size for what the pod needs on its node: the
	// originals become what comes to this size here.
	AdoptExternal External = "adopt"
	// OverrideExternal gives it the size of its originals again.
	OverrideExternal External = "override"
)

// Externals lists the ways, the default first.
var Externals = []External{LeaveExternal, AdoptExternal, OverrideExternal}

// originals finds what the author of the pod asked for; of a pod that somebody
// else resized before it was ever sized, nobody knows.
func (p *Planner) originals(plan *Plan, pod *corev1.Pod, h *history) *safety.Veto {
	if !h.external() || marked(pod) {
		return fillOriginals(plan, pod, h)
	}
	if p.External != AdoptExternal {
		return resizedBy(h, ", before its originals were known")
	}
	o := newOriginals(pod.Annotations, h)
	for i := range plan.Containers {
		if c := &plan.Containers[i]; h.untouched(c.Name) {
			if err := o.fill(c); err != nil {
				return &safety.Veto{Reason: contract.InvalidAnnotation, Message: err.Error()}
			}
		}
	}
	adopt(plan, h)
	return nil
}

func resizedBy(h *history, when string) *safety.Veto {
	return &safety.Veto{Reason: contract.ExternallyResized, Message: fmt.Sprintf("%s resized the pod at %s%s", h.other, h.otherAt.UTC().Format(timeFormat), when)}
}

// external deals with a pod that somebody else resized since it was sized.
func (p *Planner) external(plan *Plan, pod *corev1.Pod, h *history, bounds ratios.Bounds) *safety.Veto {
	if !h.external() || !plan.differs() || !plan.adopted.IsZero() {
		return nil
	}
	switch p.External {
	case OverrideExternal:
		return nil
	case AdoptExternal:
		adopt(plan, h)
		scale(plan, bounds)
		plan.Reasons = slices.DeleteFunc(plan.Reasons, isHeldBack)
		p.holdBack(plan, pod)
		return nil
	}
	return resizedBy(h, "")
}

// adopt makes the present sizes of the containers that were resized those that
// their originals come to.
func adopt(plan *Plan, h *history) {
	cpuFactor, memoryFactor := sizing.Factor(plan.CPUFactor), sizing.Factor(plan.MemoryFactor)
	for i := range plan.Containers {
		c := &plan.Containers[i]
		if h.untouched(c.Name) {
			continue
		}
		c.Original = sizing.Container{
			CPU:    sizing.UnscaleCPU(c.Current.CPU, sizing.Amount{}, cpuFactor),
			Memory: sizing.UnscaleMemory(c.Current.Memory, sizing.Amount{}, memoryFactor),
		}
		c.cpu, c.memory = scales, scales
		for which, amount := range [...]int64{c.Original.CPU.Request, c.Original.CPU.Limit, c.Original.Memory.Request, c.Original.Memory.Limit} {
			if amount != 0 {
				c.record(contract.Original(which))
			}
		}
	}
	plan.adopted = h.otherAt
}
