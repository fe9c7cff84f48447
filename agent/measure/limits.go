package measure

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

const (
	// memoryTimes is the size of a memory kernel's data as a multiple of the total size of
	// the last-level caches; STREAM requires this multiple. leastTimes is the lowest multiple
	// at which caches do not dominate the score.
	memoryTimes, leastTimes = 4, 2
	// unknownCache is the assumed size if Linux shows no caches, as in some virtual machines.
	// It is typical of a server's socket.
	unknownCache = 32 << 20
	// maxMemory limits the data of a memory kernel, since filling it takes time.
	maxMemory = 1 << 30
	// slowRepetition is the CPU time per thread that a repetition takes on a slow machine,
	// including its warm-up.
	slowRepetition = 100 * time.Millisecond
)

// withMemory returns the kernels for which there is enough memory, the size of the data of
// each memory kernel across all threads, and the skipped kernels.
func withMemory(kernels []kernel.Kernel, l Limits) ([]kernel.Kernel, int64, []Skip) {
	memory, reason := memoryBytes(l.CacheBytes, l.free(kernels), memoryKernels(kernels))
	var left []kernel.Kernel
	var skipped []Skip
	for _, k := range kernels {
		if k.Memory && memory == 0 {
			skipped = append(skipped, Skip{k.Name, reason})
		} else {
			left = append(left, k)
		}
	}
	return left, memory, skipped
}

// free returns how much memory kernels that measure it may use twice: half of the limit, or what
// the others leave.
func (l *Limits) free(kernels []kernel.Kernel) int64 {
	if l.MemoryBytes == 0 {
		return 0
	}
	others := newHeap(kernels, len(l.CPUs), l.MemoryBytes).reserved(kernels)
	return max(min(l.MemoryBytes, 2*(l.MemoryBytes-l.MemoryBytes/usable-others)), 1)
}

// memoryKernels returns the number of memory kernels.
func memoryKernels(kernels []kernel.Kernel) int64 {
	var n int64
	for _, k := range kernels {
		if k.Memory {
			n++
		}
	}
	return n
}

// memoryBytes returns the size of the data of each of n memory kernels. If there is too little
// memory, it returns 0 and the reason.
func memoryBytes(cache, limit, n int64) (int64, string) {
	if cache == 0 {
		cache = unknownCache
	}
	most := int64(maxMemory)
	if limit > 0 {
		// The other half is for this process, and for other processes in the meantime.
		most = min(most, limit/2/max(n, 1))
	}
	if most < leastTimes*cache {
		return 0, fmt.Sprintf("it may use %d MiB of memory, less than %d times the caches (%d MiB)", most>>20, leastTimes, cache>>20)
	}
	return min(most, memoryTimes*cache), ""
}

// fitting returns how many of n kernels that many threads can measure in the given time under
// a CPU quota. A quota of 0 means no limit.
func fitting(n, threads int, quota float64, within time.Duration) int {
	if quota == 0 || quota >= float64(threads) {
		return n
	}
	// With all vCPUs, and with one thread, which cannot use more than one CPU.
	least := leastRuns * slowRepetition.Seconds() * (float64(threads)/quota + 1/min(quota, 1))
	return min(n, int(within.Seconds()/least))
}
