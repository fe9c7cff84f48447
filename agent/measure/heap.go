package measure

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

const (
	// baseHeap is the memory of the process itself, and of what threads share.
	baseHeap = 64 << 20
	// usable is the divisor for the share of the memory limit that the heap leaves free: for
	// the stacks of threads, and for what the collector returns late.
	usable = 4
	// spareUnits are units of work that do not count: one warms up the caches, and one in each
	// of the two waits for other threads keeps the thread busy.
	spareUnits, waits = 3, 2
	// leastHeap is enough for a few threads.
	leastHeap = 256 << 20
)

// heap plans the memory of the kernels that compute. Garbage is collected between repetitions: the
// collector would take CPU time from threads whose work counts. So the heap must hold what all
// threads leave behind in one repetition, which is several MB each.
type heap struct {
	threads int64
	// limit is the memory limit; 0 means none.
	limit int64
	// live is what the threads keep for all kernels.
	live int64
}

func newHeap(kernels []kernel.Kernel, threads int, limit int64) heap {
	h := heap{threads: int64(threads), limit: limit}
	for _, k := range kernels {
		h.live += h.threads * k.Live
	}
	return h
}

// reserved returns how much memory must be left by kernels that measure the memory, so that one
// repetition of each of the others has half of its units.
func (h heap) reserved(kernels []kernel.Kernel) int64 {
	most := int64(0)
	for _, k := range kernels {
		most = max(most, h.threads*k.Garbage*int64(k.Units/2+spareUnits))
	}
	return baseHeap + h.live + most
}

// units returns how many units of work a repetition of a kernel has: all, or as many as there is
// memory for next to that much data. If there is too little for one, it returns why.
func (h heap) units(k kernel.Kernel, data int64) (int, string) {
	if h.limit == 0 || k.Garbage == 0 {
		return k.Units, ""
	}
	left := h.limit - h.limit/usable - baseHeap - h.live - data
	fit := left/(h.threads*k.Garbage) - spareUnits
	if fit < 1 {
		need := baseHeap + h.live + data + h.threads*k.Garbage*(spareUnits+1)
		return 0, fmt.Sprintf("%d threads need %d MiB of memory for it, and may use %d MiB", h.threads, (need*usable/(usable-1))>>20, h.limit>>20)
	}
	return int(min(fit, int64(k.Units))), ""
}

// most returns the size of the heap from which garbage is collected even during a repetition.
func (h heap) most(kernels []kernel.Kernel, data int64) int64 {
	garbage := int64(0)
	for _, k := range kernels {
		garbage = max(garbage, h.threads*k.Garbage*int64(k.Units+spareUnits))
	}
	most := data + max(leastHeap, baseHeap+h.live+garbage)
	if h.limit > 0 {
		most = min(most, h.limit-h.limit/usable)
	}
	return most
}

// withHeap returns the kernels for which there is enough memory next to that much data, with as
// many units of work as fit, and the skipped kernels.
func (h heap) withHeap(kernels []kernel.Kernel, data int64) (left []kernel.Kernel, skipped []Skip) {
	for _, k := range kernels {
		units, reason := h.units(k, data)
		if units == 0 {
			skipped = append(skipped, Skip{k.Name, reason})
			continue
		}
		k.Units = units
		left = append(left, k)
	}
	return left, skipped
}
