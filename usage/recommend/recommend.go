package recommend

import (
	"math"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Recommendation is what a container needs, in baseline units.
type Recommendation struct {
	// Target is the request to set; Lower and Upper are the bounds outside of which a request
	// is wrong.
	Target, Lower, Upper Amounts
	// Uncapped is the target without the bounds of the options.
	Uncapped Amounts
	// Used is the mean of CPU, and of the peaks of memory.
	Used Amounts
	// CPUConfidence and MemoryConfidence say how much history there is: 1 for one sample a
	// minute over the time in the options.
	CPUConfidence, MemoryConfidence float64
	// CPUKnown and MemoryKnown say how much is known of each resource, and PeaksKnown for how
	// much of it the peaks of memory are known, not only its usage at moments.
	CPUKnown, MemoryKnown, PeaksKnown Known
	// MemoryUnknown means that nothing of memory was measured, so that amounts of it come from floors and bounds alone.
	MemoryUnknown bool
	// New is for how long a version of the workload exists that differs from the one before in an image or in an amount
	// that its author wrote; 0 if no version before it is known.
	New time.Duration
	// Floors are the least sizes of which smaller ones were seen to be too small.
	Floors Floors
	// Peak is the highest usage of memory within the last seven days, and of the runs that are known. A container that was
	// killed counts as having used its limit. It is 0 if none is known.
	Peak int64
	// Max is the most that the options allow; 0 means any amount.
	Max Amounts
	// Parts are the zero value unless containers share.
	Parts Parts
	// Last is when CPU was measured last, and Silent means that this is too long ago.
	Last   time.Time
	Silent bool
	// Throttled is the share of CPU samples that were throttled.
	Throttled float64
	// Unknown has node types whose history does not count because their speed is unknown.
	Unknown []string
}

// Known says how much of a history is known.
type Known struct {
	// Age is how long ago it begins, and Coverage the share of hours with samples since then.
	Age      time.Duration
	Coverage float64
	// Runs is how many successful runs were measured, and Days on how many days.
	Runs, Days int
}

// known converts what is known at a time.
func known(k history.Known, now time.Time) Known {
	if k.Begin.IsZero() {
		return Known{}
	}
	return Known{Age: now.Sub(k.Begin), Coverage: k.Coverage}
}

// For returns what a container needs, given its demand and the number of containers that share the
// floor of its pod. There is no recommendation without samples of CPU.
func For(d Demand, containers int, o *Options, now time.Time) (r Recommendation, ok bool) {
	if d.Samples == 0 {
		return Recommendation{}, false
	}
	cpu, memory := o.estimates(&d, now)
	r = Recommendation{
		CPUConfidence: d.confidence(o.CPUConfidence), MemoryConfidence: d.confidence(o.MemoryConfidence),
		CPUKnown: known(d.CPUKnown, now), MemoryKnown: known(d.MemoryKnown, now), PeaksKnown: known(d.PeaksKnown, now),
		Max: o.most(), Throttled: d.Throttled, Unknown: d.Unknown,
		Last: d.Last, Silent: o.Silence > 0 && now.Sub(d.Last) > o.Silence,
	}
	r.MemoryUnknown = !slices.ContainsFunc(d.Memory, func(p histogram.Part) bool { return !p.Histogram.Empty() })
	r.Floors, r.Peak = d.floors(now), max(d.highest(now), d.highestOfRuns())
	if o.ByRuns {
		r.countRuns(&d, now)
	}
	if !d.Since.IsZero() {
		r.New = max(1, now.Sub(d.Since).Abs()) // A time in the far future must not prevent decreases forever.
	}
	target := o.stages(cpu.Target, memory.Target, containers, 1, 1)
	r.Uncapped, r.Target = target.rounded, target.capped
	r.Used = Amounts{CPU: whole(math.Round(histogram.Mean(d.CPU...) * 1000)), Memory: whole(histogram.Mean(d.Memory...))}
	lower := func(confidence float64) float64 { return math.Pow(1+0.001/confidence, -2) }
	upper := func(confidence float64) float64 { return 1 + 1/confidence }
	r.Lower = o.stages(cpu.Lower, memory.Lower, containers, lower(r.CPUConfidence), lower(r.MemoryConfidence)).capped
	r.Upper = o.stages(cpu.Upper, memory.Upper, containers, upper(r.CPUConfidence), upper(r.MemoryConfidence)).capped
	if o.Shared.any() {
		r.Parts = o.Shared.Parts(&d, o, &r, containers, now)
	}
	return r, true
}

// stages are the amounts on the way from an estimate to a recommended size, in their order.
type stages struct{ estimated, padded, floored, rounded, capped Amounts }

// stages returns the stages of an estimate. Bounds move apart by the factors, after the margin.
func (o *Options) stages(cpu, memory float64, containers int, cpuFactor, memoryFactor float64) (s stages) {
	s.estimated = estimated(cpu, memory)
	s.padded = o.pad(s.estimated, containers)
	adjusted := Amounts{CPU: scale(s.padded.CPU, cpuFactor), Memory: scale(s.padded.Memory, memoryFactor)}
	s.floored = atLeast(adjusted, o.floor(containers))
	s.rounded = o.round(s.floored)
	s.capped = o.cap(s.rounded)
	return s
}

// estimated returns an estimate as amounts. As in the VPA, these are whole before the margin is added.
func estimated(cpu, memory float64) Amounts {
	return Amounts{CPU: whole(cpu * 1000), Memory: whole(memory)}
}

// pad adds the margins.
func (o *Options) pad(a Amounts, containers int) Amounts {
	return Amounts{CPU: a.CPU + scale(a.CPU, o.Margin), Memory: a.Memory + max(scale(a.Memory, o.MemoryMargin), o.headroom(containers))}
}

// headroom returns the least that is added to memory, which is the container's share of the headroom of the pod.
func (o *Options) headroom(containers int) int64 {
	return scale(o.Headroom, 1/float64(max(containers, 1)))
}

// floor returns the least that a container gets, which is its share of the floor of the pod.
func (o *Options) floor(containers int) Amounts {
	share := 1 / float64(max(containers, 1))
	return Amounts{CPU: scale(o.Floor.CPU, share), Memory: scale(o.Floor.Memory, share)}
}

// atLeast returns the larger one of two amounts of each resource.
func atLeast(a, least Amounts) Amounts {
	return Amounts{CPU: max(a.CPU, least.CPU), Memory: max(a.Memory, least.Memory)}
}

// round rounds amounts up.
func (o *Options) round(a Amounts) Amounts {
	a = Amounts{CPU: roundUp(a.CPU, o.Round.CPU), Memory: roundUp(a.Memory, o.Round.Memory)}
	if o.IntegerCPU {
		a.CPU = roundUp(a.CPU, 1000)
	}
	return a
}

// most returns the most that is recommended; 0 means any amount.
func (o *Options) most() Amounts {
	return apply(o.Max, o.GlobalMax, func(own, global int64) int64 {
		if own > 0 {
			return own
		}
		return global
	})
}

// cap returns amounts within the bounds of the options.
func (o *Options) cap(a Amounts) Amounts {
	most := o.most()
	return Amounts{CPU: clamp(a.CPU, o.Min.CPU, most.CPU), Memory: clamp(a.Memory, o.Min.Memory, most.Memory)}
}
