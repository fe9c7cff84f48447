package oracle

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Text returns the sizes of containers as a string, for comparisons and messages.
func Text(containers []*corev1.Container, of func(*corev1.Container) (cpu, memory Amount)) string {
	var b strings.Builder
	for _, c := range containers {
		cpu, memory := of(c)
		fmt.Fprintf(&b, "%s: cpu %dm/%dm, memory %s/%s; ", c.Name, cpu.Request, cpu.Limit, bytes(memory.Request), bytes(memory.Limit))
	}
	return b.String()
}

// Written returns the amounts in a container's spec.
func Written(c *corev1.Container) (cpu, memory Amount) {
	return AmountOf(c.Resources, corev1.ResourceCPU), AmountOf(c.Resources, corev1.ResourceMemory)
}

func bytes(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }
