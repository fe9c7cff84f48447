package safety

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Sizes are the containers of a pod in a state: Containers in the order of
// spec.containers, InitContainers in that of spec.initContainers.
type Sizes struct{ Containers, InitContainers []sizing.Container }

func (s Sizes) equal(other Sizes) bool {
	return slices.Equal(s.Containers, other.Containers) && slices.Equal(s.InitContainers, other.InitContainers)
}

// of pairs each container of the pod, init containers last, with its size.
func (s Sizes) of(pod *corev1.Pod) iter.Seq2[*corev1.Container, sizing.Container] {
	return func(yield func(*corev1.Container, sizing.Container) bool) {
		for i, size := range s.Containers {
			if !yield(&pod.Spec.Containers[i], size) {
				return
			}
		}
		for i, size := range s.InitContainers {
			if !yield(&pod.Spec.InitContainers[i], size) {
				return
			}
		}
	}
}

// growth tells what some container has more of after a resize.
type growth struct{ cpu, memory, limits bool }

func (g growth) requests() bool { return g.cpu || g.memory }

func growing(before, after Sizes) (g growth) {
	g.add(before.Containers, after.Containers)
	g.add(before.InitContainers, after.InitContainers)
	return g
}

func (g *growth) add(before, after []sizing.Container) {
	for i := range after {
		b, a := &before[i], &after[i]
		g.cpu = g.cpu || a.CPU.Request > b.CPU.Request
		g.memory = g.memory || a.Memory.Request > b.Memory.Request
		g.limits = g.limits || a.CPU.Limit > b.CPU.Limit || a.Memory.Limit > b.Memory.Limit
	}
}

// IsSidecar tells a sidecar from other init containers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
