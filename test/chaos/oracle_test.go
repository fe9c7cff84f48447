package chaos

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// resizable returns the containers of a pod that may be resized, in order.
func resizable(pod *corev1.Pod) []*corev1.Container {
	var all []*corev1.Container
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// sizesFor returns what the containers of a pod should have on a node type, given the pod
// as created.
func (t *table) sizesFor(created *corev1.Pod, nodeType string) string {
	cpuFactor, memoryFactor := t.factors(nodeType)
	return oracle.Text(resizable(created), func(c *corev1.Container) (cpu, memory oracle.Amount) {
		cpu, memory = oracle.Written(c)
		if !restarts(c, corev1.ResourceCPU) {
			cpu = oracle.CPU(cpu, cpuFactor, t.cpuBounds)
		}
		if !restarts(c, corev1.ResourceMemory) {
			memory = oracle.Memory(memory, memoryFactor, t.memoryBounds)
		}
		return cpu, memory
	})
}

func restarts(c *corev1.Container, name corev1.ResourceName) bool {
	for _, p := range c.ResizePolicy {
		if p.ResourceName == name {
			return p.RestartPolicy == corev1.RestartContainer
		}
	}
	return false
}

// sizesOf returns what the containers of a pod have.
func sizesOf(pod *corev1.Pod) string { return oracle.Text(resizable(pod), oracle.Written) }
