package safety

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// nodePressure vetoes an increase of requests on a node under pressure.
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

// beyondNode checks, as the kubelet does, whether the pod fits next to the other pods
// on the node, for each resource that grows. Room that may be needed again does not count as free. For a critical pod, it checks all
// resources on every change. So does the kubelet, which would kill other pods to make
// room. A resource that is not in the node's allocatable resources cannot be checked,
// and causes no veto.
func (c *change) beyondNode() string {
	all := c.pod.Critical()
	if !all && !c.grows.requests() || c.Node == nil {
		return ""
	}
	allocatable := c.Node.Status.Allocatable
	wanted, kept := requestsWith(c.pod, c.after), Resources{}
	if c.Kept != nil {
		kept = c.Kept()
	}
	var short []string
	if q, ok := allocatable[corev1.ResourceCPU]; ok && (all || c.grows.cpu) {
		short = lacking(short, corev1.ResourceCPU, wanted.CPU, c.Neighbors.CPU, kept.CPU, q, sizing.Millicores, sizing.CPUText)
	}
	if q, ok := allocatable[corev1.ResourceMemory]; ok && (all || c.grows.memory) {
		short = lacking(short, corev1.ResourceMemory, wanted.Memory, c.Neighbors.Memory, kept.Memory, q, sizing.Bytes, sizing.MemoryText)
	}
	if len(short) == 0 {
		return ""
	}
	text := fmt.Sprintf("node %s has no room: %s", c.Node.Name, strings.Join(short, "; "))
	if all {
		text += "; the pod is critical, so its kubelet would kill other pods to make room"
	}
	return text
}

func lacking(short []string, name corev1.ResourceName, wanted, neighbors, kept int64, allocatable resource.Quantity, amount func(*resource.Quantity) (int64, bool), text func(int64) string) []string {
	most, _ := amount(&allocatable)
	if wanted <= most-neighbors-kept {
		return short
	}
	others := text(neighbors)
	if kept > 0 {
		others += ", kept for them while their resizes are observed: " + text(kept)
	}
	return append(short, fmt.Sprintf("%s, requested: %s, other pods: %s, allocatable: %s", name, text(wanted), others, text(most)))
}
