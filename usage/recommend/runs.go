package recommend

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/usage/history"
)

// A workload whose pods end shows in each run what it needs, but has no samples in half of a day's hours. These are how
// many successful runs must be known before a decrease, and on how many days: runs of one hour may all have the same input.
const (
	leastRuns = history.RunDays // so that the history remembers all of them, even if each has a day of its own
	leastDays = 3
)

// forgotten is after how long without samples of CPU nothing is known of a workload that is silent between its runs. By
// then, the days that peaks are remembered for are over.
const forgotten = 8 * 24 * time.Hour

// estimates returns what the policy estimates. A run that is killed is lost, so where pods end, memory is at least the
// highest usage that is known, whatever percentile that is.
func (o *Options) estimates(d *Demand, now time.Time) (cpu, memory Estimate) {
	cpu, memory = o.Policy.Estimate(d, o, now)
	if o.ByRuns {
		memory = memory.atLeast(float64(max(d.highest(now), d.highestOfRuns())), true)
	}
	return cpu, memory
}

// highestOfRuns returns the highest usage of memory of the successful runs that are known, on the baseline; 0 without any.
func (d *Demand) highestOfRuns() (usage int64) {
	for i := range d.types {
		for _, day := range d.types[i].Runs {
			usage = max(usage, scale(day.Peak, d.speeds[i].Memory))
		}
	}
	return usage
}

// countRuns notes the runs that are known, and what is known of a workload that is silent between them.
func (r *Recommendation) countRuns(d *Demand, now time.Time) {
	days := map[int32][2]int{}
	for i := range d.types {
		for _, day := range d.types[i].Runs {
			of := days[day.Day]
			days[day.Day] = [...]int{of[0] + int(day.Runs), of[1] + int(day.Peaks)}
		}
	}
	for _, of := range days {
		r.CPUKnown.ran(of[0])
		r.MemoryKnown.ran(of[0])
		r.PeaksKnown.ran(of[1])
	}
	r.Silent = now.Sub(r.Last) > forgotten
}

// ran notes the runs of a day.
func (k *Known) ran(runs int) {
	if runs > 0 {
		k.Runs, k.Days = k.Runs+runs, k.Days+1
	}
}

// tooFew returns which runs are missing for a decrease; empty if there are enough.
func (k *Known) tooFew(what, was string) string {
	if k.Runs >= leastRuns && k.Days >= leastDays {
		return ""
	}
	return fmt.Sprintf("%s %s measured in %s, on %s, and %d on %d days are needed",
		what, was, plural(k.Runs, "successful run"), plural(k.Days, "day"), leastRuns, leastDays)
}
