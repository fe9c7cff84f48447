package recommend

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// Policy turns demand into estimates, before the margin.
type Policy interface {
	// Name is the policy's name in configurations.
	Name() string
	// Estimate returns the estimates of CPU, in cores, and memory, in bytes.
	Estimate(d *Demand, o *Options, now time.Time) (cpu, memory Estimate)
}

// Estimate is what a container needs, the least that it can do with, and the most that it can use.
type Estimate struct {
	Target, Lower, Upper float64
}

// The policies.
var (
	// Usage takes percentiles of CPU and of the peaks of memory, as the VPA does.
	Usage Policy = usage{}
	// Pressure is Usage with the time that the container waited for CPU added to what it used.
	Pressure Policy = pressure{}
	// Week is Usage, or the peak that the same and the next hour of the week had a week ago if
	// that is higher.
	Week Policy = week{}
	// Peak takes the 75th percentile of CPU with the time that the container waited, with the
	// highest usage as the upper bound, and the highest peak of memory.
	Peak Policy = peak{}
)

// Policies has all policies.
func Policies() []Policy { return []Policy{Usage, Pressure, Week, Peak} }

// estimate returns the percentiles of a union.
func estimate(parts []histogram.Part, p Percentiles) Estimate {
	return Estimate{
		Target: histogram.Percentile(p.Target, parts...),
		Lower:  histogram.Percentile(p.Lower, parts...),
		Upper:  histogram.Percentile(p.Upper, parts...),
	}
}

type usage struct{}

func (usage) Name() string { return "usage" }

func (usage) Estimate(d *Demand, o *Options, _ time.Time) (cpu, memory Estimate) {
	return estimate(d.CPU, o.CPU), estimate(d.Memory, o.Memory)
}

type pressure struct{}

func (pressure) Name() string { return "pressure" }

func (pressure) Estimate(d *Demand, o *Options, _ time.Time) (cpu, memory Estimate) {
	return estimate(d.Pressed, o.CPU), estimate(d.Memory, o.Memory)
}

type week struct{}

func (week) Name() string { return "week" }

func (week) Estimate(d *Demand, o *Options, now time.Time) (cpu, memory Estimate) {
	cpu, memory = Usage.Estimate(d, o, now)
	for _, at := range []time.Time{now, now.Add(time.Hour)} {
		cpu = cpu.atLeast(d.peak(history.CPU, at))
		memory = memory.atLeast(d.peak(history.Memory, at))
	}
	return cpu, memory
}

// atLeast raises the target and the upper bound to a usage, if it is known.
func (e Estimate) atLeast(usage float64, known bool) Estimate {
	if known {
		e.Target, e.Upper = max(e.Target, usage), max(e.Upper, usage)
	}
	return e
}

type peak struct{}

func (peak) Name() string { return "peak" }

func (peak) Estimate(d *Demand, o *Options, _ time.Time) (cpu, memory Estimate) {
	cpu = estimate(d.Pressed, Percentiles{Target: 0.75, Lower: o.CPU.Lower, Upper: 1})
	memory = estimate(d.Memory, Percentiles{Target: 1, Lower: o.Memory.Lower, Upper: 1})
	return cpu, memory
}
