package chaos

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const mebibyte = 1 << 20

// amount is a request and a limit, in millicores or bytes; 0 is none.
type amount struct{ request, limit int64 }

func amountOf(r corev1.ResourceRequirements, name corev1.ResourceName) amount {
	request, limit := r.Requests[name], r.Limits[name]
	if name == corev1.ResourceCPU {
		return amount{request.MilliValue(), limit.MilliValue()}
	}
	return amount{request.Value(), limit.Value()}
}

// want is what becomes of the amount that somebody asked for: factor times the
// request, from low to high; the limit times factor, but no more times its request
// than before, and above it if it was.
func (a amount) want(factor *big.Rat, low, high, unit int64, round func(*big.Rat) int64) amount {
	if a.request == 0 {
		return a
	}
	request, limit := a.request, a.limit
	if factor.Cmp(big.NewRat(1, 1)) != 0 {
		request, limit = max(1, round(times(a.request, factor))), round(times(a.limit, factor))
	}
	request = max(request, low)
	if high > 0 {
		request = min(request, high)
	}
	switch a.limit {
	case 0:
		return amount{request, 0}
	case a.request:
		return amount{request, request}
	}
	most := times(a.limit, big.NewRat(request, a.request))
	whole := new(big.Int).Quo(most.Num(), most.Denom()).Int64()
	if request != a.request {
		whole = whole / unit * unit
	}
	if limit = min(limit, whole); limit < request+unit && (request != a.request || limit != a.limit) {
		limit = request + unit
	}
	return amount{request, limit}
}

func times(v int64, factor *big.Rat) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(v), factor)
}

// nearest rounds to an integer, halves up.
func nearest(x *big.Rat) int64 {
	doubled := new(big.Int).Lsh(x.Num(), 1)
	doubled.Add(doubled, x.Denom())
	return new(big.Int).Div(doubled, new(big.Int).Lsh(x.Denom(), 1)).Int64()
}

// wholeMebibytes rounds up to a multiple of 1Mi.
func wholeMebibytes(x *big.Rat) int64 {
	unit := new(big.Int).Mul(x.Denom(), big.NewInt(mebibyte))
	whole, rest := new(big.Int).DivMod(x.Num(), unit, new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64() * mebibyte
}

// resizable are the containers of a pod that may be resized, in their order.
func resizable(pod *corev1.Pod) []*corev1.Container {
	var all []*corev1.Container
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, c)
		}
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// sizesFor is what the containers of a pod should have on a node type, given the
// pod as it was created.
func (t *table) sizesFor(created *corev1.Pod, nodeType string) string {
	cpuFactor, memoryFactor := t.factors(nodeType)
	return sizesBy(created, func(c *corev1.Container) (cpu, memory amount) {
		cpu, memory = amountOf(c.Resources, corev1.ResourceCPU), amountOf(c.Resources, corev1.ResourceMemory)
		if !restarts(c, corev1.ResourceCPU) {
			cpu = cpu.want(cpuFactor, t.cpuMin, t.cpuMax, 1, nearest)
		}
		if !restarts(c, corev1.ResourceMemory) {
			memory = memory.want(memoryFactor, t.memoryMin, t.memoryMax, mebibyte, wholeMebibytes)
		}
		return cpu, memory
	})
}

func restarts(c *corev1.Container, name corev1.ResourceName) bool {
	for _, p := range c.ResizePolicy {
		if p.ResourceName == name {
			return p.RestartPolicy == corev1.RestartContainer
		}
	}
	return false
}

// sizesOf is what the containers of a pod have.
func sizesOf(pod *corev1.Pod) string {
	return sizesBy(pod, func(c *corev1.Container) (cpu, memory amount) {
		return amountOf(c.Resources, corev1.ResourceCPU), amountOf(c.Resources, corev1.ResourceMemory)
	})
}

// sizesBy is one text for all containers, to be compared and shown.
func sizesBy(pod *corev1.Pod, of func(*corev1.Container) (cpu, memory amount)) string {
	var b strings.Builder
	for _, c := range resizable(pod) {
		cpu, memory := of(c)
		fmt.Fprintf(&b, "%s: cpu %dm/%dm, memory %s/%s; ", c.Name, cpu.request, cpu.limit, bytesText(memory.request), bytesText(memory.limit))
	}
	return b.String()
}

func bytesText(n int64) string { return resource.NewQuantity(n, resource.BinarySI).String() }

// What is right is itself held against numbers worked out by hand.
func TestOracle(t *testing.T) {
	for _, tc := range []struct {
		name      string
		of        amount
		factor    *big.Rat
		low, high int64
		unit      int64
		round     func(*big.Rat) int64
		want      amount
	}{
		{"Guaranteed stays Guaranteed", amount{1000, 1000}, big.NewRat(4, 5), 0, 0, 1, nearest, amount{800, 800}},
		{"the limit keeps its distance", amount{500, 2000}, big.NewRat(4, 5), 0, 0, 1, nearest, amount{400, 1600}},
		{"the limit goes with the factor, whatever a bound made of the request", amount{100, 400}, big.NewRat(1, 4), 50, 0, 1, nearest, amount{50, 100}},
		{"a bound raises no limit", amount{10, 2000}, big.NewRat(1, 1), 50, 0, 1, nearest, amount{50, 2000}},
		{"but by a unit, to stay above", amount{10, 20}, big.NewRat(1, 1), 50, 0, 1, nearest, amount{50, 51}},
		{"no more times its request than before", amount{14000, 28000}, big.NewRat(13, 10), 0, 16000, 1, nearest, amount{16000, 32000}},
		{"held at the upper bound", amount{2000, 0}, big.NewRat(3, 2), 0, 1000, 1, nearest, amount{1000, 0}},
		{"to the nearest millicore", amount{1000, 0}, big.NewRat(10, 13), 0, 0, 1, nearest, amount{769, 0}},
		{"halves up", amount{5, 0}, big.NewRat(1, 2), 0, 0, 1, nearest, amount{3, 0}},
		{"memory up to a whole Mi", amount{1 << 30, 1 << 30}, big.NewRat(10, 11), 0, 0, mebibyte, wholeMebibytes, amount{931 * mebibyte, 931 * mebibyte}},
		{"memory untouched at 1", amount{1000, 1001}, big.NewRat(1, 1), 0, 0, mebibyte, wholeMebibytes, amount{1000, 1001}},
		{"nothing asked for", amount{0, 0}, big.NewRat(4, 5), 50, 0, 1, nearest, amount{0, 0}},
	} {
		if got := tc.of.want(tc.factor, tc.low, tc.high, tc.unit, tc.round); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
