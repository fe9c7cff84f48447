package sizing

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is a request and a limit of one resource of one container, in
// millicores or bytes. 0 means that there is none: Kubernetes, too, counts a
// request or limit of zero as not set when it determines the QoS class.
type Amount struct{ Request, Limit int64 }

// Container is what one container asks for.
type Container struct{ CPU, Memory Amount }

// FromResources reads cpu (in whole millicores, as the API server stores them)
// and memory (in bytes, a fraction rounded up) of a container.
func FromResources(r corev1.ResourceRequirements) Container {
	return Container{
		CPU:    Amount{milli(r.Requests), milli(r.Limits)},
		Memory: Amount{bytes(r.Requests), bytes(r.Limits)},
	}
}

func milli(list corev1.ResourceList) int64 {
	q, ok := list[corev1.ResourceCPU]
	if !ok {
		return 0
	}
	return q.MilliValue()
}

func bytes(list corev1.ResourceList) int64 {
	q, ok := list[corev1.ResourceMemory]
	if !ok {
		return 0
	}
	return q.Value()
}

// CPUText is an amount of millicores as Kubernetes writes it, e.g. "800m".
func CPUText(millicores int64) string {
	return resource.NewMilliQuantity(millicores, resource.DecimalSI).String()
}

// MemoryText is an amount of bytes as Kubernetes writes it, e.g. "1Gi".
func MemoryText(bytes int64) string {
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
