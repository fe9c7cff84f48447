package safety

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
)

// nodePressure vetoes an increase of requests on a node under pressure.
func (c *change) nodePressure() string {
	if !c.grows.requests() || c.Node == nil {
		return ""
	}
	if pressure := node.Pressure(c.Node); pressure != "" {
		return fmt.Sprintf("node %s has %s, so no request is increased", c.Node.Name, pressure)
	}
	return ""
}

// beyondNode checks, as the kubelet does, whether the pod fits next to the other pods
// on the node, for each resource that grows. Room that is kept for others does not count as free. For a critical
// pod, it checks all resources on every change. So does the kubelet, which would kill other pods to make
// room.
func (c *change) beyondNode() string {
	all := c.pod.Critical()
	if !all && !c.grows.requests() || c.Node == nil {
		return ""
	}
	lacks := c.Lacks(node.RequestsWith(c.pod, c.after, false), [...]bool{all || c.grows.cpu, all || c.grows.memory})
	if len(lacks) == 0 {
		return ""
	}
	var short []string
	for _, l := range lacks {
		others := l.Measure.Text(l.Neighbors)
		if l.Kept > 0 {
			others += ", kept for them while their resizes are observed: " + l.Measure.Text(l.Kept)
		}
		short = append(short, fmt.Sprintf("%s, requested: %s, other pods: %s, allocatable: %s", l.Measure.Name, l.Measure.Text(l.Wanted), others, l.Measure.Text(l.Allocatable)))
	}
	text := fmt.Sprintf("node %s has no room: %s", c.Node.Name, strings.Join(short, "; "))
	if all {
		text += "; the pod is critical, so its kubelet would kill other pods to make room"
	}
	return text
}
