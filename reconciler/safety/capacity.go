package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// nodePressure vetoes what would take more of a node that has too little.
func (c *change) nodePressure() string {
	if !c.grows.requests() || c.Node == nil {
		return ""
	}
	for i := range c.Node.Status.Conditions {
		condition := &c.Node.Status.Conditions[i]
		switch condition.Type {
		case corev1.NodeMemoryPressure, corev1.NodeDiskPressure, corev1.NodePIDPressure:
			if condition.Status == corev1.ConditionTrue {
				return fmt.Sprintf("node %s has %s, so no request is increased", c.Node.Name, condition.Type)
			}
		}
	}
	return ""
}

// beyondNode asks the kubelet's question of each resource that grows: does the pod
// fit beside its neighbours? Of a critical pod it asks it of all resources and of
// every change, as the kubelet does, since what does not fit would cost neighbours
// their lives. A resource that the node does not list as allocatable cannot be
// judged, and vetoes nothing.
func (c *change) beyondNode() string {
	all := c.pod.Critical()
	if !all && !c.grows.requests() || c.Node == nil {
		return ""
	}
	allocatable := c.Node.Status.Allocatable
	wanted := requestsWith(c.pod, c.after)
	var short []string
	if q, ok := allocatable[corev1.ResourceCPU]; ok && (all || c.grows.cpu) {
		short = lacking(short, corev1.ResourceCPU, wanted.CPU, c.Neighbours.CPU, q, sizing.Millicores, sizing.CPUText)
	}
	if q, ok := allocatable[corev1.ResourceMemory]; ok && (all || c.grows.memory) {
		short = lacking(short, corev1.ResourceMemory, wanted.Memory, c.Neighbours.Memory, q, sizing.Bytes, sizing.MemoryText)
	}
	if len(short) == 0 {
		return ""
	}
	text := fmt.Sprintf("node %s has no room: %s", c.Node.Name, strings.Join(short, "; "))
	if all {
		text += "; the pod is critical, so its kubelet would kill others to make room"
	}
	return text
}

func lacking(short []string, name corev1.ResourceName, wanted, neighbours int64, allocatable resource.Quantity, amount func(*resource.Quantity) (int64, bool), text func(int64) string) []string {
	most, _ := amount(&allocatable)
	if wanted <= most-neighbours {
		return short
	}
	return append(short, fmt.Sprintf("%s, requested: %s, neighbours: %s, allocatable: %s", name, text(wanted), text(neighbours), text(most)))
}
