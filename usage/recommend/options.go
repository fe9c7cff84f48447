package recommend

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
)

// Percentiles are the percentiles of the samples that a recommendation follows, e.g. 0.9.
type Percentiles struct {
	Target, Lower, Upper float64
}

// At returns the percentiles with a different target, which the bounds include.
func (p Percentiles) At(target float64) Percentiles {
	return Percentiles{Target: target, Lower: min(p.Lower, target), Upper: max(p.Upper, target)}
}

// Options are how recommendations for a container follow from its history.
type Options struct {
	// Policy turns usage into estimates.
	Policy      Policy
	CPU, Memory Percentiles
	// Margin is added to each estimate of CPU, and MemoryMargin to each of memory, e.g. 0.15 of it.
	Margin, MemoryMargin float64
	// Headroom is the least that is added to the memory of a pod. Its containers share it.
	Headroom int64
	// CPUConfidence and MemoryConfidence are the times after which the bounds are trusted: less
	// history moves them apart.
	CPUConfidence, MemoryConfidence time.Duration
	// Floor is the least that is recommended for a pod. Its containers share it.
	Floor Amounts
	// Min and Max are the bounds of the container; 0 means none. GlobalMax applies where Max
	// is 0.
	Min, Max, GlobalMax Amounts
	// Round rounds up to multiples; 0 and 1 mean whole millicores and bytes.
	Round Amounts
	// IntegerCPU rounds CPU up to whole cores, for the static CPU manager.
	IntegerCPU bool
	// KeepMemory never lowers memory, for runtimes whose heap grows to what it is given: the
	// usage of a Java virtual machine says little about its demand.
	KeepMemory bool
	// MinHistory and MinCoverage are how much history, and which share of its hours, must be
	// known before a decrease.
	MinHistory  time.Duration
	MinCoverage float64
	// ByRuns means that the pods of the workload end, as those of Jobs do. Successful runs on several days then take the
	// place of MinHistory, MinCoverage and Silence, and memory follows the highest usage.
	ByRuns bool
	// Silence is after how long without samples of CPU its source counts as silent, so that CPU is not lowered; 0 means
	// never. Memory in use says this of memory.
	Silence time.Duration
	// Rules are when and how the sizes of pods follow.
	need.Rules
}

// DefaultOptions returns the options of containers whose memory limit is above the request, or that
// have none. Percentiles and margin are the VPA's. The room for small containers is in the limit,
// which reserves nothing, instead of the floor of the request.
func DefaultOptions() Options {
	o := ownOptions()
	o.Floor.Memory = 64 << 20
	o.Limits = need.Limits{Memory: need.Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 << 20}
	o.Updates.DecreaseMemory, o.Updates.DecreaseLimit = time.Hour, 72*time.Hour
	return o
}

// FollowOptions returns the options of containers whose memory limit is a proportion of the
// request, as it must be in Guaranteed pods: to lower the request lowers the limit.
func FollowOptions() Options {
	o := ownOptions()
	o.Memory, o.MemoryMargin, o.Headroom = o.Memory.At(weeklyPeak), 0.05, 250<<20
	o.Updates.DecreaseMemory = 36 * time.Hour
	return o
}

// weeklyPeak is the percentile of memory that a request follows if its limit follows it: a container that exceeds its
// request is killed there. Peaks lose half of their weight from window to window, so that one of seven windows ago has less
// than 0.4% of the weight: of one pod, the percentile is the highest peak of a week. Headroom helps more than a margin of
// the same total, since small containers are killed as often as large ones. docs/design/benchmarks.md has the figures.
const weeklyPeak = 0.996

// ownOptions returns the options that all our recommendations have, whatever happens to limits.
func ownOptions() Options {
	o := CompatOptions()
	o.MinHistory, o.MinCoverage, o.MaxGrowth = 24*time.Hour, 0.5, 4
	o.Silence = 15 * time.Minute
	o.Updates.DecreaseCPU = 24 * time.Hour
	o.Updates.Separate, o.Updates.AnyKill, o.Updates.InUse = true, true, true
	return o
}

const (
	// lowerBound and upperBound are the percentiles of the bounds between which a request stays as it is. They are
	// far enough apart that a request is not changed for the noise of a day. The VPA hides them, too.
	lowerBound, upperBound = 0.5, 0.95
	// confidence is the time after which the bounds are trusted: before it, not even one day was seen, and with it the
	// hours in which most workloads have their peak.
	confidence = 24 * time.Hour
)

// CompatOptions returns the VPA's recommendations and decisions. Limits follow requests.
func CompatOptions() Options {
	percentiles := Percentiles{Target: 0.9, Lower: lowerBound, Upper: upperBound}
	return Options{
		Policy: Usage, CPU: percentiles, Memory: percentiles, Margin: 0.15, MemoryMargin: 0.15,
		CPUConfidence: confidence, MemoryConfidence: confidence,
		Floor: Amounts{CPU: 25, Memory: 250 << 20},
		Rules: need.Rules{Updates: need.Updates{Band: 0.1, After: 12 * time.Hour, QuickKill: 10 * time.Minute}},
	}
}
