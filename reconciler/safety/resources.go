package safety

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Resources holds millicores of cpu and bytes of memory.
type Resources struct{ CPU, Memory int64 }

func (u Resources) plus(o Resources) Resources { return Resources{u.CPU + o.CPU, u.Memory + o.Memory} }

func (u Resources) minus(o Resources) Resources { return Resources{u.CPU - o.CPU, u.Memory - o.Memory} }

func (u Resources) atLeast(o Resources) Resources {
	return Resources{max(u.CPU, o.CPU), max(u.Memory, o.Memory)}
}

// of returns the quantity of cpu or memory.
func (u Resources) of(name corev1.ResourceName) *resource.Quantity {
	if name == corev1.ResourceCPU {
		return resource.NewMilliQuantity(u.CPU, resource.DecimalSI)
	}
	return resource.NewQuantity(u.Memory, resource.BinarySI)
}

func requestsOf(c sizing.Container) Resources { return Resources{c.CPU.Request, c.Memory.Request} }

func limitsOf(c sizing.Container) Resources { return Resources{c.CPU.Limit, c.Memory.Limit} }

// Requests returns what the pod takes of its node by the scheduler's formula, including
// overhead, sidecars and resizes in progress. A container that shrinks counts with its former
// size until its node has completed the resize.
func Requests(p *pod.Pod) Resources {
	return requests(p, nil, p.RefusedForGood())
}

// requestsWith is like Requests, for the pod with these sizes in a new resize: it
// ignores that a previous size was infeasible.
func requestsWith(p *pod.Pod, sizes Sizes) Resources { return requests(p, sizes, false) }

// requests is k8s.io/component-helpers/resource.PodRequests of Kubernetes 1.36 with
// UseStatusResources, for cpu and memory only and without a map, because planning calls it
// for each increase. If sizes is nil, the pod has the sizes of its spec.
func requests(p *pod.Pod, sizes Sizes, refused bool) Resources {
	sum := total(p, sizes, refused, requestsOf, func(c *pod.Container) (Resources, bool) {
		cpu, memory, told := c.Reserves()
		return Resources{cpu, memory}, told
	})
	return sum.plus(requestsOf(p.Overhead()))
}

// limits is PodLimits in the way that requests is PodRequests.
func limits(p *pod.Pod, sizes Sizes, refused bool) Resources {
	sum := total(p, sizes, refused, limitsOf, func(c *pod.Container) (Resources, bool) {
		running, told := c.Running()
		return limitsOf(running), told
	})
	// The overhead only adds to existing limits.
	overhead := requestsOf(p.Overhead())
	if sum.CPU > 0 {
		sum.CPU += overhead.CPU
	}
	if sum.Memory > 0 {
		sum.Memory += overhead.Memory
	}
	return sum
}

// total adds up the sizes of a pod. Each container counts with the maximum of its spec and
// what it has: its size in effect and, for requests, what its node has allocated. Sizes that
// the node has permanently refused do not count.
func total(p *pod.Pod, sizes Sizes, refused bool, of func(sizing.Container) Resources, has func(*pod.Container) (Resources, bool)) Resources {
	sum := inTurn(p, func(c *pod.Container, i int) Resources {
		size := of(c.Spec)
		if sizes != nil {
			size = of(sizes[i])
		}
		switch held, told := has(c); {
		case !told || c.Init() && !c.Sidecar():
			return size
		case refused:
			return held
		default:
			return size.atLeast(held)
		}
	})
	if whole := p.Whole(); whole != nil {
		sum = instead(sum, of(whole.Container))
	}
	return sum
}

// sum is a type whose values can be added, and compared field by field.
type sum[T any] interface {
	plus(T) T
	atLeast(T) T
}

// inTurn adds up what containers and sidecars need together, or returns what init containers
// need one after the other, if that is more.
func inTurn[T sum[T]](p *pod.Pod, of func(c *pod.Container, i int) T) T {
	var all, sidecars, starting T
	for i := range p.Containers {
		c := &p.Containers[i]
		size := of(c, i)
		switch {
		case !c.Init():
			all = all.plus(size)
		case c.Sidecar():
			all, sidecars = all.plus(size), sidecars.plus(size)
			starting = starting.atLeast(sidecars)
		default:
			// It runs together with the sidecars before it, and before all other containers.
			starting = starting.atLeast(size.plus(sidecars))
		}
	}
	return all.atLeast(starting)
}

// instead replaces the sum over the containers with the pod-level resources.
func instead(sum, whole Resources) Resources {
	if whole.CPU > 0 {
		sum.CPU = whole.CPU
	}
	if whole.Memory > 0 {
		sum.Memory = whole.Memory
	}
	return sum
}
