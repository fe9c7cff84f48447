package recommend

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Shared are the options for a demand in two numbers, for containers that share what they rarely need.
type Shared struct {
	// CPU and Memory are the percentiles that the steady demand follows: of the means of CPU in slots, and of the peaks of
	// memory in slots.
	CPU, Memory float64
	// Peak is the percentile of the samples of CPU, with the time that the container waited, that the peak follows. That of
	// memory is the highest usage of seven days.
	Peak float64
	// WithMemory means that memory is shared, too. Otherwise, its steady demand is all that the container needs.
	WithMemory bool
}

const (
	// steady is the percentile of steady demand: a container needs more in a quarter of the slots.
	steady = 0.75
	// steadyCPU and steadyMemory are the lengths of slots: a container that lacks CPU for a few minutes is slow, and
	// memory is rarely freed within minutes.
	steadyCPU, steadyMemory = 10 * time.Minute, 30 * time.Minute
)

// DefaultShared returns the options that share CPU.
func DefaultShared() Shared { return Shared{CPU: steady, Memory: steady, Peak: 0.99} }

// KeepSlots makes a history keep the slots that steady demand follows.
func KeepSlots(h *history.Options) { h.SteadyCPU, h.SteadyMemory = steadyCPU, steadyMemory }

// Parts is what a container needs in two numbers, in baseline units, within the floors and bounds of the options.
type Parts struct {
	// Steady is what it needs most of the time, which is not 0, and Peak what it needs at most. Peak is not below Steady.
	Steady, Peak Amounts
	// CPUBound and MemoryBound mean that slots are not known for long enough: the steady demand then is a bound that the
	// percentile does not exceed.
	CPUBound, MemoryBound bool
}

// Parts returns the demand in two numbers, given the recommendation for a container.
//
// Without slots, the steady demand of CPU is the mean of the highest samples, since an average of samples cannot be above
// it as often. That of memory is the same percentile of the peaks of days: if few days have a higher peak, few slots have.
func (s *Shared) Parts(d *Demand, o *Options, r *Recommendation, containers int, now time.Time) (p Parts) {
	cpu, known := d.slots(history.CPU, o, now)
	if p.CPUBound = !known; known {
		p.Steady.CPU = whole(1000 * histogram.Percentile(s.CPU, cpu...))
	} else {
		p.Steady.CPU = whole(1000 * histogram.MeanAbove(s.CPU, d.CPU...))
	}
	p.Peak.CPU = whole(1000 * histogram.Percentile(s.Peak, d.Pressed...))
	memory, known := d.slots(history.Memory, o, now)
	switch p.MemoryBound = !known; {
	case !s.WithMemory:
		p.Steady.Memory, p.Peak.Memory, p.MemoryBound = r.Target.Memory, r.Target.Memory, false
	case known:
		p.Steady.Memory, p.Peak.Memory = whole(histogram.Percentile(s.Memory, memory...)), r.Peak
	default:
		p.Steady.Memory, p.Peak.Memory = whole(histogram.Percentile(s.Memory, d.Memory...)), r.Peak
	}
	within := func(a Amounts) Amounts {
		return atLeast(o.cap(o.round(atLeast(atLeast(a, o.floor(containers)), r.Floors.Request))), Amounts{CPU: 1, Memory: 1})
	}
	p.Steady, p.Peak = within(p.Steady), within(p.Peak)
	p.Peak = atLeast(p.Peak, p.Steady)
	return p
}

// slots returns the slots of a resource on all node types, and whether they are known for long enough on each: as long as
// history must be known before a decrease.
func (d *Demand) slots(resource history.Resource, o *Options, now time.Time) (parts []histogram.Part, known bool) {
	for i := range d.types {
		all := d.types[i].Steady
		if all == nil {
			return nil, false
		}
		slots, since, speed := &all.CPU, all.CPUSince, d.speeds[i].CPU
		if resource == history.Memory {
			slots, since, speed = &all.Memory, all.MemorySince, d.speeds[i].Memory
		}
		if since.IsZero() || now.Sub(since) < o.MinHistory {
			return nil, false
		}
		parts = append(parts, histogram.Part{Histogram: slots, Factor: speed})
	}
	return parts, len(parts) > 0
}
