package plan

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Mutated tells what the API server made of a resize that the plan does not say;
// "" if nothing.
func (p *Plan) Mutated(pod *corev1.Pod) string {
	for i := range p.Containers {
		c := &p.Containers[i]
		got, ok := c.sizeIn(pod)
		if ok && (otherwise(c.Current.CPU, c.Desired.CPU, got.CPU) || otherwise(c.Current.Memory, c.Desired.Memory, got.Memory)) {
			return fmt.Sprintf("container %s would have cpu %s/%s, memory %s/%s (requests/limits)", c.Name,
				sizing.CPUText(got.CPU.Request), sizing.CPUText(got.CPU.Limit), sizing.MemoryText(got.Memory.Request), sizing.MemoryText(got.Memory.Limit))
		}
	}
	return ""
}

// IsDone reports whether a pod has what the plan gives it, all of it.
func (p *Plan) IsDone(pod *corev1.Pod) bool {
	for i := range p.Containers {
		if has, ok := p.Containers[i].sizeIn(pod); !ok || has != p.Containers[i].Desired {
			return false
		}
	}
	return true
}

// sizeIn is what the container asks for in a pod, if that has it.
func (c *ContainerPlan) sizeIn(pod *corev1.Pod) (sizing.Container, bool) {
	containers, at := pod.Spec.Containers, c.index
	if c.Sidecar {
		containers, at = pod.Spec.InitContainers, at-len(containers)
	}
	if at < 0 || at >= len(containers) || containers[at].Name != c.Name {
		return sizing.Container{}, false
	}
	return sizing.FromResources(containers[at].Resources), true
}

// otherwise tells whether the API server made something else of an amount: what
// was to be changed is not as desired, or what was not there is. What somebody
// else has changed since is neither.
func otherwise(current, desired, got sizing.Amount) bool {
	return (desired.Request != current.Request || current.Request == 0) && got.Request != desired.Request ||
		(desired.Limit != current.Limit || current.Limit == 0) && got.Limit != desired.Limit
}
