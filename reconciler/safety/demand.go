package safety

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// demand is the request and the limit of a container or pod for one resource. requested and
// limited distinguish a request or limit of zero from a missing one.
type demand struct {
	request, limit     resource.Quantity
	requested, limited bool
}

// demandOf returns the container's demand for the resource once it has the size. Resources
// other than cpu and memory do not change.
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

// total returns the demand of the whole pod for the resource.
func (s Sizes) total(p *pod.Pod, name corev1.ResourceName) demand {
	return node.InTurn(p, func(c *pod.Container, i int) demand { return demandOf(c, s[i], name) })
}

// Plus returns the sum of both.
func (d demand) Plus(other demand) demand {
	// A copy of a very large quantity shares its digits.
	d.request, d.limit = d.request.DeepCopy(), d.limit.DeepCopy()
	d.request.Add(other.request)
	d.limit.Add(other.limit)
	d.requested = d.requested || other.requested
	d.limited = d.limited || other.limited
	return d
}

// AtLeast returns the maximum of both demands.
func (d demand) AtLeast(other demand) demand {
	if other.request.Cmp(d.request) > 0 {
		d.request = other.request
	}
	if other.limit.Cmp(d.limit) > 0 {
		d.limit = other.limit
	}
	d.requested = d.requested || other.requested
	d.limited = d.limited || other.limited
	return d
}
