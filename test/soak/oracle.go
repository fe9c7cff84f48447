package main

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/test/oracle"
)

// The bounds of the configuration.
var (
	cpuBounds    = oracle.Range{Min: 50, Max: 16_000}
	memoryBounds = oracle.Range{Min: 64 * oracle.Mebibyte, Max: 32 << 30}
)

// sizesFor returns the sizes that containers with these originals should have with a
// ratio.
func sizesFor(written []corev1.Container, r ratio) string {
	return oracle.Text(each(written), func(c *corev1.Container) (cpu, memory oracle.Amount) {
		cpu, memory = oracle.Written(c)
		return oracle.CPU(cpu, new(big.Rat).Inv(r.cpu), cpuBounds), oracle.Memory(memory, new(big.Rat).Inv(r.memory), memoryBounds)
	})
}

// sizesOf returns the current sizes of containers.
func sizesOf(containers []corev1.Container) string {
	return oracle.Text(each(containers), oracle.Written)
}

func each(containers []corev1.Container) (all []*corev1.Container) {
	for i := range containers {
		all = append(all, &containers[i])
	}
	return all
}
