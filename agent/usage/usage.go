package usage

import "time"

// Usage is what one container used in about a minute. If the container may be about to reach its memory
// limit, there is also one of the time between two readings, of memory alone.
type Usage struct {
	PodUID, ContainerID string
	// End is when the measurement ended, and Duration how long it took.
	End      time.Time
	Duration time.Duration
	// CPU is the mean, in cores, and Memory the highest working set, in bytes. These and the following
	// are nil if unknown.
	CPU    *float64
	Memory *int64
	// Charged is the most memory that was charged to the container, in bytes: the page cache counts, which the
	// kernel can take back.
	Charged *int64
	// Throttled is the share of the periods of the CPU limit in which the container ran and had
	// to wait for the next period.
	Throttled *float64
	// CPUPressure and MemoryPressure are the shares of the time in which at least one task
	// waited for the resource.
	CPUPressure, MemoryPressure *float64
	// LimitEvents is how often the container reached memory.max or memory.high.
	LimitEvents *int64
}
