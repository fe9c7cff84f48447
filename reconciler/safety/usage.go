package safety

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	corev1 "k8s.io/api/core/v1"
)

// Usage is millicores of cpu and bytes of memory.
type Usage struct{ CPU, Memory int64 }

func (u Usage) plus(o Usage) Usage { return Usage{u.CPU + o.CPU, u.Memory + o.Memory} }

func (u Usage) atLeast(o Usage) Usage { return Usage{max(u.CPU, o.CPU), max(u.Memory, o.Memory)} }

// Requests returns what the pod takes of its node by the scheduler's formula:
// overhead, sidecars and resizes under way included. A container that shrinks
// counts with what it had until its node has carried that out.
func Requests(pod *corev1.Pod) Usage {
	return requests(pod, infeasible(pod), func(c *corev1.Container, _ int, _ bool) Usage { return requestsOf(c.Resources.Requests) })
}

// requestsWith is Requests of the pod with these sizes, asked for anew: that
// another size was infeasible does not count.
func requestsWith(pod *corev1.Pod, sizes Sizes) Usage {
	return requests(pod, false, func(_ *corev1.Container, i int, init bool) Usage {
		size := sizes.Containers
		if init {
			size = sizes.InitContainers
		}
		return Usage{size[i].CPU.Request, size[i].Memory.Request}
	})
}

// requests is k8s.io/component-helpers/resource.PodRequests of Kubernetes 1.36
// with UseStatusResources, for cpu and memory alone and without a map: each
// increase is planned with it.
func requests(pod *corev1.Pod, infeasible bool, spec func(c *corev1.Container, i int, init bool) Usage) Usage {
	var sum, sidecars, starting Usage
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		sum = sum.plus(effective(spec(c, i, false), StatusOf(c.Name, pod.Status.ContainerStatuses), infeasible))
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		if !IsSidecar(c) {
			// It runs beside the sidecars before it, and before all else.
			starting = starting.atLeast(spec(c, i, true).plus(sidecars))
			continue
		}
		sidecar := effective(spec(c, i, true), StatusOf(c.Name, pod.Status.InitContainerStatuses), infeasible)
		sum, sidecars = sum.plus(sidecar), sidecars.plus(sidecar)
		starting = starting.atLeast(sidecars)
	}
	sum = sum.atLeast(starting)
	if pod.Spec.Resources != nil {
		// What the pod asks for as a whole counts instead.
		whole := requestsOf(pod.Spec.Resources.Requests)
		if whole.CPU > 0 {
			sum.CPU = whole.CPU
		}
		if whole.Memory > 0 {
			sum.Memory = whole.Memory
		}
	}
	return sum.plus(requestsOf(pod.Spec.Overhead))
}

// effective is what a container counts with: the most of what it asks for, what
// its node has set aside, and what is in force; the first not if the node has
// refused it for good.
func effective(spec Usage, status *corev1.ContainerStatus, infeasible bool) Usage {
	if status == nil || status.Resources == nil {
		return spec
	}
	held := requestsOf(status.Resources.Requests).atLeast(requestsOf(status.AllocatedResources))
	if infeasible {
		return held
	}
	return held.atLeast(spec)
}

// StatusOf returns the status of a container among these, nil if it has none.
func StatusOf(container string, statuses []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == container {
			return &statuses[i]
		}
	}
	return nil
}

func requestsOf(list corev1.ResourceList) Usage {
	if len(list) == 0 {
		return Usage{}
	}
	c := sizing.FromResources(corev1.ResourceRequirements{Requests: list})
	return Usage{c.CPU.Request, c.Memory.Request}
}

// infeasible tells whether the pod's node has refused its sizes for good.
func infeasible(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

// resized returns the pod with these sizes. It shares with pod what does not
// change.
func (s Sizes) resized(pod *corev1.Pod) *corev1.Pod {
	p := *pod
	p.Spec.Containers = resizedContainers(p.Spec.Containers, s.Containers)
	p.Spec.InitContainers = resizedContainers(p.Spec.InitContainers, s.InitContainers)
	return &p
}

func resizedContainers(containers []corev1.Container, sizes []sizing.Container) []corev1.Container {
	containers = slices.Clone(containers)
	for i, size := range sizes {
		c := &containers[i]
		requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
		maps.Copy(requests, c.Resources.Requests)
		maps.Copy(limits, c.Resources.Limits)
		for _, name := range [...]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			d := demandOf(c, size, name)
			if d.requested {
				requests[name] = d.request
			}
			if d.limited {
				limits[name] = d.limit
			}
		}
		c.Resources.Requests, c.Resources.Limits = requests, limits
	}
	return containers
}
