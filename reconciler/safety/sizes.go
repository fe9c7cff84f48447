package safety

import (
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Sizes are the sizes of a pod's containers, in the order of pod.Pod.
type Sizes []sizing.Container

func (s Sizes) equal(other Sizes) bool { return slices.Equal(s, other) }

// growth records which requests grow in at least one container.
type growth struct{ cpu, memory bool }

func (g growth) requests() bool { return g.cpu || g.memory }

func growing(before, after Sizes) (g growth) {
	for i := range after {
		b, a := &before[i], &after[i]
		g.cpu = g.cpu || a.CPU.Request > b.CPU.Request
		g.memory = g.memory || a.Memory.Request > b.Memory.Request
	}
	return g
}
