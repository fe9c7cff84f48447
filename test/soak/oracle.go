package main

import (
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const mebibyte = 1 << 20

// The bounds of the configuration, in millicores and bytes.
const (
	cpuMin, cpuMax       = 50, 16_000
	memoryMin, memoryMax = 64 * mebibyte, 32 << 30
)

// amount is a request and a limit, in millicores or bytes; 0 is none.
type amount struct{ request, limit int64 }

// want is what becomes of the amount that somebody asked for on a node of this
// performance: the request divided by it within the bounds, and the limit by what
// really became of the request.
func (a amount) want(perf *big.Rat, low, high int64, round func(*big.Rat) int64) amount {
	if a.request == 0 {
		return a
	}
	request := a.request
	if perf.Cmp(big.NewRat(1, 1)) != 0 {
		request = round(new(big.Rat).Quo(big.NewRat(a.request, 1), perf))
	}
	request = min(max(request, low), high)
	switch {
	case a.limit == 0 || request == a.request:
		return amount{request, a.limit}
	case a.limit == a.request:
		return amount{request, request}
	}
	return amount{request, max(request, round(new(big.Rat).Mul(big.NewRat(a.limit, 1), big.NewRat(request, a.request))))}
}

// nearest rounds to an integer, halves up.
func nearest(x *big.Rat) int64 {
	doubled := new(big.Int).Lsh(x.Num(), 1)
	return new(big.Int).Div(doubled.Add(doubled, x.Denom()), new(big.Int).Lsh(x.Denom(), 1)).Int64()
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

// sizesFor is what containers should have by a ratio, given what their owner wrote.
func sizesFor(written []corev1.Container, r ratio) string {
	return sizesBy(written, func(c corev1.ResourceRequirements) (cpu, memory amount) {
		cpu, memory = amounts(c)
		return cpu.want(r.cpu, cpuMin, cpuMax, nearest), memory.want(r.memory, memoryMin, memoryMax, wholeMebibytes)
	})
}

// sizesOf is what containers have.
func sizesOf(containers []corev1.Container) string { return sizesBy(containers, amounts) }

func amounts(r corev1.ResourceRequirements) (cpu, memory amount) {
	return amount{r.Requests.Cpu().MilliValue(), r.Limits.Cpu().MilliValue()}, amount{r.Requests.Memory().Value(), r.Limits.Memory().Value()}
}

// sizesBy is one text for all containers, to be compared and shown.
func sizesBy(containers []corev1.Container, of func(corev1.ResourceRequirements) (cpu, memory amount)) string {
	var b strings.Builder
	for _, c := range containers {
		cpu, memory := of(c.Resources)
		fmt.Fprintf(&b, "%s: cpu %dm/%dm, memory %d/%d; ", c.Name, cpu.request, cpu.limit, memory.request, memory.limit)
	}
	return b.String()
}
