package measure

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

const (
	// memoryTimes is how many times as large as all last-level caches together
	// the data of a memory kernel is, as STREAM asks; and leastTimes what it
	// must be for caches not to decide.
	memoryTimes, leastTimes = 4, 2
	// unknownCache is taken where Linux tells of no caches, as in some virtual
	// machines: what a socket of a server has.
	unknownCache = 32 << 20
	// maxMemory bounds the data of a memory kernel: making it takes time, too.
	maxMemory = 1 << 30
	// slowRepetition is the CPU time of a thread that a repetition, with its
	// warm-up, takes on a slow machine.
	slowRepetition = 100 * time.Millisecond
)

// withMemory returns the kernels without those that there is too little memory for,
// and how large the data of each memory kernel is, of all threads together.
func withMemory(kernels []kernel.Kernel, l Limits) ([]kernel.Kernel, int64, []Skip) {
	memory, reason := memoryBytes(l.CacheBytes, l.MemoryBytes, memoryKernels(kernels))
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

// memoryKernels is how many of the kernels need memory.
func memoryKernels(kernels []kernel.Kernel) int64 {
	var n int64
	for _, k := range kernels {
		if k.Memory {
			n++
		}
	}
	return n
}

// memoryBytes returns how large the data of each of n memory kernels is, and why
// there can be none where that is 0.
func memoryBytes(cache, limit, n int64) (int64, string) {
	if cache == 0 {
		cache = unknownCache
	}
	most := int64(maxMemory)
	if limit > 0 {
		// The rest is for this process, and for what others want meanwhile.
		most = min(most, limit/2/max(n, 1))
	}
	if most < leastTimes*cache {
		return 0, fmt.Sprintf("its share of half of the memory that may be used, %d MiB, is not %d times the caches, %d MiB", most>>20, leastTimes, cache>>20)
	}
	return min(most, memoryTimes*cache), ""
}

// fitting returns how many of n kernels can be measured within a time by so many
// threads under a quota of CPUs, 0 for no limit.
func fitting(n, threads int, quota float64, within time.Duration) int {
	if quota == 0 || quota >= float64(threads) {
		return n
	}
	// With all vCPUs, and with one, which cannot use more than a CPU.
	least := leastRuns * slowRepetition.Seconds() * (float64(threads)/quota + 1/min(quota, 1))
	return min(n, int(within.Seconds()/least))
}
