package reconciler

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// holdBack takes out of a plan what cannot be changed without a restart, or not
// at all, and leaves the rest.
func (p *Planner) holdBack(plan *Plan, pod *corev1.Pod) {
	kept := false
	for i := range plan.Containers {
		c := &plan.Containers[i]
		policy := c.spec.ResizePolicy
		if restarts(policy, corev1.ResourceCPU) && c.Desired.CPU != c.Current.CPU {
			c.Desired.CPU, c.cpuClamped = c.Current.CPU, false
			plan.because(contract.RestartRequired, fmt.Sprintf("container %s: cpu stays, its resizePolicy is RestartContainer", c.Name))
		}
		if restarts(policy, corev1.ResourceMemory) && c.Desired.Memory != c.Current.Memory {
			c.Desired.Memory, c.memoryClamped = c.Current.Memory, false
			plan.because(contract.RestartRequired, fmt.Sprintf("container %s: memory stays, its resizePolicy is RestartContainer", c.Name))
		}
		if p.KeepMemoryLimits && c.Desired.Memory.Limit < c.Current.Memory.Limit {
			c.Desired.Memory.Limit = c.Current.Memory.Limit
			kept = true
			plan.because(contract.MemoryLimitKept, fmt.Sprintf("container %s: memory limit stays %s", c.Name, sizing.MemoryText(c.Current.Memory.Limit)))
		}
	}
	if !kept || plan.classAfter(pod) == plan.QOSClass {
		return
	}
	// With its limit kept, a smaller request would change the class: then
	// the pod's memory stays as a whole.
	for i := range plan.Containers {
		c := &plan.Containers[i]
		c.Desired.Memory, c.memoryClamped = c.Current.Memory, false
	}
	plan.because(contract.MemoryLimitKept, fmt.Sprintf("memory stays as a whole, for the pod to remain %s", plan.QOSClass))
}

// heldBack tells whether something was taken out of the plan.
func (p *Plan) heldBack() bool {
	return slices.ContainsFunc(p.Reasons, isHeldBack)
}

func isHeldBack(r Reason) bool {
	return r.Code == contract.RestartRequired || r.Code == contract.MemoryLimitKept
}

// restarts tells whether a resize of the resource restarts the container.
func restarts(policies []corev1.ContainerResizePolicy, name corev1.ResourceName) bool {
	for _, p := range policies {
		if p.ResourceName == name {
			return p.RestartPolicy == corev1.RestartContainer
		}
	}
	return false
}
