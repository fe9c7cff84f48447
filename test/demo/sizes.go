package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// sizes are the request and the limit of a container in a human-readable form: "500m/2", or
// "500m" without a limit.
type sizes struct{ cpu, memory string }

func sizesOf(r corev1.ResourceRequirements) sizes {
	return sizes{
		cpu:    pair(amount(r.Requests, corev1.ResourceCPU), amount(r.Limits, corev1.ResourceCPU)),
		memory: pair(amount(r.Requests, corev1.ResourceMemory), amount(r.Limits, corev1.ResourceMemory)),
	}
}

// originalSizes returns the originals in the annotations, or the sizes in the spec if there are
// no annotations.
func originalSizes(pod *corev1.Pod, container *corev1.Container) sizes {
	original := container.Resources.DeepCopy()
	for _, recorded := range []struct {
		key  string
		list corev1.ResourceList
		name corev1.ResourceName
	}{
		{contract.CPURequest.Key(container.Name), original.Requests, corev1.ResourceCPU},
		{contract.CPULimit.Key(container.Name), original.Limits, corev1.ResourceCPU},
		{contract.MemoryRequest.Key(container.Name), original.Requests, corev1.ResourceMemory},
		{contract.MemoryLimit.Key(container.Name), original.Limits, corev1.ResourceMemory},
	} {
		quantity, err := resource.ParseQuantity(pod.Annotations[recorded.key])
		if _, has := recorded.list[recorded.name]; has && err == nil {
			recorded.list[recorded.name] = quantity
		}
	}
	return sizesOf(*original)
}

func amount(list corev1.ResourceList, name corev1.ResourceName) string {
	quantity, has := list[name]
	if !has {
		return ""
	}
	return quantity.String()
}

func pair(request, limit string) string {
	switch {
	case request == "" && limit == "":
		return "-"
	case limit == "":
		return request
	}
	return request + "/" + limit
}

// arrow shows the change from the original to the current size.
func arrow(original, now string) string {
	if original == now {
		return now
	}
	return original + " → " + now
}

// actual returns the resources of a container that the kubelet reports.
func actual(pod *corev1.Pod, container string) sizes {
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Name == container && status.Resources != nil {
			return sizesOf(*status.Resources)
		}
	}
	return sizes{}
}
