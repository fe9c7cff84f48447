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

// The most that is read of any quantity: a billion cores, and 1Ei. No machine
// has as much, and what is beyond may not fit in 64 bits.
const (
	mostMillicores = mostCores * 1000
	mostBytes      = 1 << 60

	mostCores = 1_000_000_000
)

// Millicores returns cpu in whole millicores, rounded up; false where it is
// negative or more than any machine has, and then the nearest amount that is
// not.
func Millicores(q *resource.Quantity) (int64, bool) {
	if whole, ok := q.AsInt64(); ok && 0 <= whole && whole <= mostCores {
		return whole * 1000, true // The quick way for most.
	}
	switch {
	case q.Sign() < 0:
		return 0, false
	case q.CmpInt64(mostCores) > 0:
		return mostMillicores, false
	}
	return q.MilliValue(), true
}

// Bytes is Millicores for memory in whole bytes.
func Bytes(q *resource.Quantity) (int64, bool) {
	if whole, ok := q.AsInt64(); ok && 0 <= whole && whole <= mostBytes {
		return whole, true // The quick way for most.
	}
	switch {
	case q.Sign() < 0:
		return 0, false
	case q.CmpInt64(mostBytes) > 0:
		return mostBytes, false
	}
	return q.Value(), true
}

// FromResources reads cpu and memory of a container.
func FromResources(r corev1.ResourceRequirements) Container {
	return Container{
		CPU:    Amount{cpu(r.Requests), cpu(r.Limits)},
		Memory: Amount{memory(r.Requests), memory(r.Limits)},
	}
}

func cpu(list corev1.ResourceList) int64 {
	q := list[corev1.ResourceCPU]
	amount, _ := Millicores(&q)
	return amount
}

func memory(list corev1.ResourceList) int64 {
	q := list[corev1.ResourceMemory]
	amount, _ := Bytes(&q)
	return amount
}

// CPUText is an amount of millicores as Kubernetes writes it, e.g. "800m".
func CPUText(millicores int64) string {
	return resource.NewMilliQuantity(millicores, resource.DecimalSI).String()
}

// MemoryText is an amount of bytes as Kubernetes writes it, e.g. "1Gi".
func MemoryText(bytes int64) string {
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
