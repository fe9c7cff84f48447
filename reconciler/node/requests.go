package node

import (
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Requests returns what the pod takes of its node by the scheduler's formula, including
// overhead, sidecars and resizes in progress. A container that shrinks counts with its former
// size until its node has completed the resize.
func Requests(p *pod.Pod) Resources {
	return RequestsWith(p, nil, p.RefusedForGood())
}

// RequestsWith is like Requests, for the pod with these sizes of its containers, or those of its spec if they are nil.
// refused means that its node has permanently refused the sizes of the spec; a new resize ignores that.
//
// It is k8s.io/component-helpers/resource.PodRequests of Kubernetes 1.36 with UseStatusResources, for cpu and memory
// only and without a map, because planning calls it for each increase.
func RequestsWith(p *pod.Pod, sizes []sizing.Container, refused bool) Resources {
	sum := total(p, sizes, refused, RequestsOf, func(c *pod.Container) (Resources, bool) {
		cpu, memory, told := c.Reserves()
		return Resources{cpu, memory}, told
	})
	return sum.Plus(RequestsOf(p.Overhead()))
}

// RequestsAs returns what the pod would take of its node if its containers had these sizes and no resize were in
// progress.
func RequestsAs(p *pod.Pod, of func(*pod.Container) sizing.Container) Resources {
	sum := Resources(InTurn(p, func(c *pod.Container, _ int) bounded { return bounded(RequestsOf(of(c))) }))
	if whole := p.Whole(); whole != nil {
		sum = instead(sum, RequestsOf(whole.Container))
	}
	return sum.Plus(RequestsOf(p.Overhead()))
}

// LimitsWith is PodLimits in the way that RequestsWith is PodRequests.
func LimitsWith(p *pod.Pod, sizes []sizing.Container, refused bool) Resources {
	sum := total(p, sizes, refused, limitsOf, func(c *pod.Container) (Resources, bool) {
		running, told := c.Running()
		return limitsOf(running), told
	})
	// The overhead only adds to existing limits.
	overhead := RequestsOf(p.Overhead())
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
func total(p *pod.Pod, sizes []sizing.Container, refused bool, of func(sizing.Container) Resources, has func(*pod.Container) (Resources, bool)) Resources {
	sum := Resources(InTurn(p, func(c *pod.Container, i int) bounded {
		size := of(c.Spec)
		if sizes != nil {
			size = of(sizes[i])
		}
		switch held, told := has(c); {
		case !told || c.Init() && !c.Sidecar():
			return bounded(size)
		case refused:
			return bounded(held)
		default:
			return bounded(size.AtLeast(held))
		}
	}))
	if whole := p.Whole(); whole != nil {
		sum = instead(sum, of(whole.Container))
	}
	return sum
}

// bounded is a sum that is not above Most. A pod may have thousands of containers, which request as much each: the sum could be
// negative otherwise.
type bounded Resources

// Plus implements Sum.
func (b bounded) Plus(o bounded) bounded {
	return bounded(Resources(b).Plus(Resources(o)).AtMost(Most))
}

// AtLeast implements Sum.
func (b bounded) AtLeast(o bounded) bounded { return bounded(Resources(b).AtLeast(Resources(o))) }

// Sum is a type whose values can be added, and compared field by field.
type Sum[T any] interface {
	Plus(T) T
	AtLeast(T) T
}

// InTurn adds up what containers and sidecars need together, or returns what init containers
// need one after the other, if that is more.
func InTurn[T Sum[T]](p *pod.Pod, of func(c *pod.Container, i int) T) T {
	var all, sidecars, starting T
	for i := range p.Containers {
		c := &p.Containers[i]
		size := of(c, i)
		switch {
		case !c.Init():
			all = all.Plus(size)
		case c.Sidecar():
			all, sidecars = all.Plus(size), sidecars.Plus(size)
			starting = starting.AtLeast(sidecars)
		default:
			// It runs together with the sidecars before it, and before all other containers.
			starting = starting.AtLeast(size.Plus(sidecars))
		}
	}
	return all.AtLeast(starting)
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
