package recommend

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// KeepsCPU returns why a request of CPU is not lowered; empty if it may be.
func (o *Options) KeepsCPU(r *Recommendation) string {
	if why := o.unknown("CPU", "was", r.CPUKnown); why != "" {
		return why
	}
	if r.Silent {
		return "no CPU has been measured since " + r.Last.UTC().Format(time.RFC3339)
	}
	if why := o.untried(r); why != "" {
		return why
	}
	if o.Throttles(r) {
		return fmt.Sprintf("%.0f%% of the samples were throttled, so what the container would use is unknown", 100*r.Throttled)
	}
	return ""
}

// Throttles reports whether a limit throttles a container so often that nobody knows how much CPU it would use: where more samples
// are throttled than may exceed the target, the target is one of them. Of a container that is silent, nobody knows that.
func (o *Options) Throttles(r *Recommendation) bool { return !r.Silent && r.Throttled > 1-o.CPU.Target }

// neverLower is why neither the memory request nor its limit is lowered if the options say so.
const neverLower = "memory is never lowered (neverLower)"

// KeepsMemory is like KeepsCPU, for memory. follows means that the limit is lowered with the request.
func (o *Options) KeepsMemory(r *Recommendation, follows bool) string {
	if o.KeepMemory {
		return neverLower
	}
	if why := cmp.Or(o.unknown("memory", "was", r.MemoryKnown), o.untried(r)); why != "" || !follows {
		return why
	}
	return o.keepsLimit(r)
}

// keepsLimit is like KeepsCPU, for the memory limit, to which the peaks matter.
func (o *Options) keepsLimit(r *Recommendation) string {
	if o.KeepMemory {
		return neverLower
	}
	return cmp.Or(o.unknown("peaks of memory", "were", r.PeaksKnown), o.untried(r))
}

// untried returns why nothing is lowered soon after a change to the workload; empty if there was none. What the version
// before used says little about the new one.
func (o *Options) untried(r *Recommendation) string {
	if o.ByRuns || r.New == 0 || r.New >= o.MinHistory { // Runs of the version before do not count.
		return ""
	}
	return fmt.Sprintf("an image, or an amount that the author wrote, changed %s ago, and %s of the new version are needed (minHistory)", short(r.New), short(o.MinHistory))
}

// unknown returns what is missing for a decrease; empty if enough is known. was is the verb that agrees with what is known.
func (o *Options) unknown(what, was string, k Known) string {
	switch {
	case k == Known{}:
		return fmt.Sprintf("no %s %s measured", what, was)
	case o.ByRuns:
		return k.tooFew(what, was)
	case k.Age < o.MinHistory:
		return fmt.Sprintf("%s of %s known, and %s needed (minHistory)", short(k.Age), what, short(o.MinHistory))
	case k.Coverage < o.MinCoverage:
		// Rounded down, as it is less than is needed.
		return fmt.Sprintf("%s %s measured in %.0f%% of the hours, and %.0f%% are needed (minCoverage)", what, was, math.Floor(100*k.Coverage+1e-9), 100*o.MinCoverage)
	}
	return ""
}

// short returns a duration in whole hours, or in whole minutes if it is shorter.
func short(d time.Duration) string {
	if d < time.Hour {
		return plural(int(d/time.Minute), "minute")
	}
	return plural(int(d/time.Hour), "hour")
}

func plural(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
