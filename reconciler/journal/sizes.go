package journal

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Range is a range of amounts; zero if there is none.
type Range struct{ Least, Most int64 }

func (r Range) with(other Range) Range {
	switch {
	case r == Range{}:
		return other
	case other == Range{}:
		return r
	}
	return Range{min(r.Least, other.Least), max(r.Most, other.Most)}
}

func (r Range) text(amount func(int64) string) string {
	if least, most := amount(r.Least), amount(r.Most); least != most {
		return least + " to " + most
	}
	return amount(r.Least)
}

// Sizes are what the containers of a pod requested together before and after resizes, in millicores and bytes.
type Sizes struct{ FromCPU, FromMemory, ToCPU, ToMemory Range }

func (s Sizes) with(other Sizes) Sizes {
	return Sizes{s.FromCPU.with(other.FromCPU), s.FromMemory.with(other.FromMemory), s.ToCPU.with(other.ToCPU), s.ToMemory.with(other.ToMemory)}
}

// memoryText returns an amount of memory as its author wrote it, if that is in whole megabytes, or else to the MiB: sizes from usage
// have any number of bytes, which nobody reads.
func memoryText(bytes int64) string {
	const mib, megabyte = 1 << 20, 1_000_000
	if bytes <= mib || bytes%mib == 0 {
		return sizing.MemoryText(bytes)
	}
	if bytes%megabyte == 0 {
		return resource.NewQuantity(bytes, resource.DecimalSI).String()
	}
	return sizing.MemoryText((bytes + mib/2) / mib * mib)
}

// sizesText returns e.g. "cpu 500m to 1, memory 1Gi".
func sizesText(cpu, memory Range) string {
	var parts []string
	if cpu != (Range{}) {
		parts = append(parts, "cpu "+cpu.text(sizing.CPUText))
	}
	if memory != (Range{}) {
		parts = append(parts, "memory "+memory.text(memoryText))
	}
	return strings.Join(parts, ", ")
}

// Before returns the state before what happened.
func (e *Entry) Before() string {
	if e.From != "" {
		return e.From
	}
	return sizesText(e.Sizes.FromCPU, e.Sizes.FromMemory)
}

// After returns the state after what happened.
func (e *Entry) After() string {
	if e.To != "" {
		return e.To
	}
	return sizesText(e.Sizes.ToCPU, e.Sizes.ToMemory)
}
