package safety

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// demand is what a container, or a pod, has of one resource. A request or limit
// of zero is not the same as none: requested and limited tell.
type demand struct {
	request, limit     resource.Quantity
	requested, limited bool
}

// demandOf returns what the container has of the resource once it has the size:
// resources other than cpu and memory do not change.
func demandOf(c *pod.Container, size sizing.Container, name corev1.ResourceName) (d demand) {
	d.request, d.requested = c.Requests()[name]
	d.limit, d.limited = c.Limits()[name]
	switch name {
	case corev1.ResourceCPU:
		d.request, d.limit = *resource.NewMilliQuantity(size.CPU.Request, resource.DecimalSI), *resource.NewMilliQuantity(size.CPU.Limit, resource.DecimalSI)
	case corev1.ResourceMemory:
		d.request, d.limit = *resource.NewQuantity(size.Memory.Request, resource.BinarySI), *resource.NewQuantity(size.Memory.Limit, resource.BinarySI)
	}
	d.requested = d.requested || !d.request.IsZero()
	d.limited = d.limited || !d.limit.IsZero()
	return d
}

// total returns what the whole pod has of the resource: its containers and
// sidecars together, or what its init containers need in their turn if that is
// more.
func (s Sizes) total(p *pod.Pod, name corev1.ResourceName) demand {
	var sum, sidecars, peak demand
	for i, size := range s {
		c := &p.Containers[i]
		d := demandOf(c, size, name)
		switch {
		case !c.Init():
			sum.add(d)
		case c.Sidecar():
			sum.add(d)
			sidecars.add(d)
			peak.raise(sidecars)
		default:
			d.add(sidecars)
			peak.raise(d)
		}
	}
	sum.raise(peak)
	return sum
}

func (d *demand) add(other demand) {
	d.request.Add(other.request)
	d.limit.Add(other.limit)
	d.requested = d.requested || other.requested
	d.limited = d.limited || other.limited
}

// raise makes d at least other.
func (d *demand) raise(other demand) {
	if other.request.Cmp(d.request) > 0 {
		d.request = other.request
	}
	if other.limit.Cmp(d.limit) > 0 {
		d.limit = other.limit
	}
	d.requested = d.requested || other.requested
	d.limited = d.limited || other.limited
}
