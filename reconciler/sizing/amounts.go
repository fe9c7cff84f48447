package sizing

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amount is the request and the limit of one resource of one container, in millicores or
// bytes. 0 means not set: Kubernetes also treats a request or limit of zero as not set
// when it determines the QoS class.
type Amount struct{ Request, Limit int64 }

// Container holds the requests and limits of one container.
type Container struct{ CPU, Memory Amount }

// The largest quantities that are read: a billion cores, and 1Ei. No machine has that
// much, and larger quantities may not fit in 64 bits.
const (
	mostMillicores = mostCores * 1000
	mostBytes      = 1 << 60

	mostCores = 1_000_000_000
)

// Millicores returns cpu in whole millicores, rounded up. If the quantity is negative or
// more than any machine has, it returns the nearest valid amount and false.
func Millicores(q *resource.Quantity) (int64, bool) {
	if whole, ok := q.AsInt64(); ok && 0 <= whole && whole <= mostCores {
		return whole * 1000, true // The fast path for most quantities.
	}
	switch {
	case q.Sign() < 0:
		return 0, false
	case q.CmpInt64(mostCores) > 0:
		return mostMillicores, false
	}
	return q.MilliValue(), true
}

// Bytes is like Millicores, for memory in whole bytes.
func Bytes(q *resource.Quantity) (int64, bool) {
	if whole, ok := q.AsInt64(); ok && 0 <= whole && whole <= mostBytes {
		return whole, true // The fast path for most quantities.
	}
	switch {
	case q.Sign() < 0:
		return 0, false
	case q.CmpInt64(mostBytes) > 0:
		return mostBytes, false
	}
	return q.Value(), true
}

// Fraction reports whether a quantity is not a whole number, such as 1.1Gi.
func Fraction(q resource.Quantity) bool {
	if _, ok := q.AsInt64(); ok {
		return false // The fast path for most quantities.
	}
	return q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) != 0
}

// FromResources reads the cpu and memory of a container.
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

// CPUText formats millicores as Kubernetes does, e.g. "800m".
func CPUText(millicores int64) string {
	return resource.NewMilliQuantity(millicores, resource.DecimalSI).String()
}

// MemoryText formats bytes as Kubernetes does, e.g. "1Gi".
func MemoryText(bytes int64) string {
	return resource.NewQuantity(bytes, resource.BinarySI).String()
}
