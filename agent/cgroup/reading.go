package cgroup

import "os"

// Reading is what the kernel has counted for a container at one moment.
type Reading struct {
	// CPU is the CPU time that the container has used, in microseconds.
	CPU Count
	// Periods are the periods of the CPU limit in which the container ran, and Throttled those
	// of them in which it had to wait for the next one.
	Periods, Throttled Count
	// CPUWait and MemoryWait are how long at least one task waited for the resource, in
	// microseconds.
	CPUWait, MemoryWait Count
	// Memory is the memory that is charged to the container, in bytes, with the page cache.
	// Inactive is the part of it that the kernel can take back first: file pages that were not
	// used recently.
	Memory, Inactive Count
	// Limit is memory.max, in bytes; unknown without a limit.
	Limit Count
	// Peak is the highest Memory since the container was created.
	Peak Count
	// Faulted is the memory that page faults can have allocated, in bytes.
	Faulted Count
	// Limited is how often the container reached memory.max or memory.high.
	Limited Count
}

// WorkingSet returns the memory that the kernel cannot easily take back, as the kubelet computes it.
func (r *Reading) WorkingSet() Count {
	if !r.Memory.Known || !r.Inactive.Known {
		return Count{}
	}
	return Count{max(r.Memory.N-r.Inactive.N, 0), true}
}

var (
	pageSize = int64(os.Getpagesize())
	// hugePage is how much memory one entry of the second-lowest page table covers. An entry
	// has 8 bytes.
	hugePage = pageSize / 8 * pageSize
)

// faulted returns what page faults can have allocated, from memory.stat. A fault of a huge page also
// counts as a fault.
func faulted(stat []byte) Count {
	faults, huge := field(stat, "pgfault"), field(stat, "thp_fault_alloc")
	if !faults.Known {
		return Count{}
	}
	return Count{faults.N*pageSize + huge.N*hugePage, true}
}

// AtCreation returns what the kernel had counted when it created the group that r was read from.
func (r *Reading) AtCreation() Reading {
	zero := func(c Count) Count { return Count{Known: c.Known} }
	return Reading{
		CPU: zero(r.CPU), Periods: zero(r.Periods), Throttled: zero(r.Throttled), CPUWait: zero(r.CPUWait), MemoryWait: zero(r.MemoryWait),
		Memory: zero(r.Memory), Inactive: zero(r.Inactive), Peak: zero(r.Peak), Faulted: zero(r.Faulted), Limited: zero(r.Limited),
		Limit: r.Limit,
	}
}
