package usage

import "time"

// Usage is what one container used in about a minute. If the container may be about to reach its memory
// limit, there is also one of the time between two readings, of memory alone.
type Usage struct {
	PodUID, ContainerID string
	// End is when the measurement ended, and Duration how long it took.
	End      time.Time
	Duration time.Duration
	// Unknown values are nil, never zero.

	// CPU is the mean: the growth of `usage_usec` in `cpu.stat`, in cores.
	CPU *float64
	// Memory is the highest working set, `memory.current` without `inactive_file`, as the kubelet computes it, of all
	// readings and, if `memory.peak` grew, between them.
	Memory *int64
	// Charged is the highest `memory.current`, which includes the page cache. No limit that follows usage is lowered to less
	// than a tenth above it.
	Charged *int64
	// Throttled is the share of the periods of the CPU limit in which the container ran and had to wait for the next one:
	// `nr_throttled` ÷ `nr_periods`. A container that rarely runs counts as if it ran in a tenth of the periods.
	Throttled *float64
	// CPUPressure is the share of the time in which at least one task waited for cpu: `some` in `cpu.pressure`.
	CPUPressure *float64
	// MemoryPressure is the same for memory: `some` in `memory.pressure`.
	MemoryPressure *float64
	// LimitEvents is how often memory reached `memory.max` or `memory.high`, from `memory.events`. A container that uses 90%
	// of `memory.max`, or 80% while it reaches the limit, is reported immediately.
	LimitEvents *int64
}
