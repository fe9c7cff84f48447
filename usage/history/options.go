package history

import (
	"time"

	"github.com/workload-resizer/workload-resizer/usage/histogram"
)

// Options are how usage is collected. A change applies to future samples and loses nothing.
type Options struct {
	// CPUHalfLife and MemoryHalfLife are the times in which a sample loses half its weight.
	CPUHalfLife, MemoryHalfLife time.Duration
	// Interval is the length of the windows of memory peaks, and Intervals how many of them
	// are kept. Their product is the time after which history expires.
	Interval  time.Duration
	Intervals int
	// A kill counts as a peak that is larger than the usage by this ratio, and by at least
	// OOMMinBump bytes.
	OOMBump    float64
	OOMMinBump int64
	// Compat counts kills as the VPA does. It starts from the request instead of the limit, so
	// that a request that an earlier kill raised raises the next one. It also ignores the usage
	// since an earlier kill, unless it is higher than what that kill counted as.
	Compat bool
	// FromNothing counts what comes after the first usage of a window even if that was nothing. In the VPA, nothing
	// counts of such a window, not even a kill.
	FromNothing bool
	// Hours keeps the peaks of each hour of the week, for policies that need them.
	Hours bool
	// SteadyCPU and SteadyMemory are the lengths of the slots of Steady, which is not kept where they are 0.
	SteadyCPU, SteadyMemory time.Duration
}

// These are the values of the VPA, so that its recommendations and ours can be compared. Experiments change them in
// a replay of recorded usage.
const (
	// halfLife lets yesterday count half as much as today: short enough to follow a workload that has changed, long
	// enough that a quiet night does not outweigh the day.
	halfLife = 24 * time.Hour
	// interval has one peak of memory per day, the usual period of load, and intervals remembers the same day of
	// the week before.
	interval, intervals = 24 * time.Hour, 8
	// The demand of a killed container is unknown, but above what it had. oomBump is what it gets more, and oomMinBump
	// spares small containers many kills on the way.
	oomBump, oomMinBump = 1.2, 100 << 20
)

// DefaultOptions returns the VPA's options, without Compat.
func DefaultOptions() Options {
	return Options{
		CPUHalfLife: halfLife, MemoryHalfLife: halfLife,
		Interval: interval, Intervals: intervals,
		OOMBump: oomBump, OOMMinBump: oomMinBump,
	}
}

// Kept returns the time after which history expires.
func (o *Options) Kept() time.Duration { return o.Interval * time.Duration(o.Intervals) }

// Shapes are the shapes of the histograms of a container.
type Shapes struct{ CPU, Memory *histogram.Shape }

// ShapesOf returns the shapes with half-lives.
func ShapesOf(cpu, memory time.Duration) Shapes {
	return Shapes{
		CPU:    &histogram.Shape{Buckets: histogram.CPU, HalfLife: cpu},
		Memory: &histogram.Shape{Buckets: histogram.Memory, HalfLife: memory},
	}
}
