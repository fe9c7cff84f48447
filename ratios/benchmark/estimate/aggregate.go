package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Key is what samples are comparable by.
type Key struct {
	NodeType, CPUModel, Benchmark, Version string
}

// Aggregate is what the samples of a key come to. Scores are per vCPU.
type Aggregate struct {
	Key
	Unit string
	// Samples count and Outliers were dropped, published results as often as they
	// were run; Machines are those of Samples. Spot checks are in none of them.
	Samples, Outliers, Machines int
	// Median is that of the scores, in which all machines weigh the same, Spread
	// their scaled median absolute deviation as a share of it.
	Median, Spread float64
	// SingleThread is the median of one thread alone; 0 if unknown.
	SingleThread float64
	// SpotChecks is how many there were, and SpotMedian what they come to.
	SpotChecks int
	SpotMedian float64
	// Oldest and Newest are of the samples that count.
	Oldest, Newest time.Time

	// scores are those that count.
	scores scores
}

// Aggregates sums samples up, by node type, CPU model, benchmark and version, in
// this order. Those that are too old do not count, nor do those that ran neither
// on all vCPUs nor as a spot check, or whose node type is not known.
//
// Outliers are told by single scores, one per sample: a published result of 140
// runs is one score, though it counts as 140 samples.
func Aggregates(samples []sample.Sample, now time.Time, s Settings) []Aggregate {
	groups := make(map[Key][]*sample.Sample)
	since := now.Add(-s.MaxAge)
	for i := range samples {
		x := &samples[i]
		if x.Time.Before(since) || !usable(x) {
			continue
		}
		key := Key{x.NodeType, x.CPUModel, x.Benchmark, x.Version}
		groups[key] = append(groups[key], x)
	}
	aggregates := make([]Aggregate, 0, len(groups))
	for key, group := range groups {
		aggregates = append(aggregates, aggregate(key, group, &s))
	}
	slices.SortFunc(aggregates, func(a, b Aggregate) int { return a.compare(b.Key) })
	return aggregates
}

func (k Key) compare(other Key) int {
	return cmp.Or(
		strings.Compare(k.NodeType, other.NodeType), strings.Compare(k.CPUModel, other.CPUModel),
		strings.Compare(k.Benchmark, other.Benchmark), strings.Compare(k.Version, other.Version))
}

// usable tells whether the score is one that others can be compared with.
func usable(x *sample.Sample) bool {
	if x.NodeType == "" || x.Threads < 1 || !x.Spot && x.Threads != x.VCPUs {
		return false
	}
	v := x.PerVCPU()
	return v > 0 && !math.IsInf(v, 0)
}

// aggregate sums up the samples of one key.
func aggregate(key Key, group []*sample.Sample, s *Settings) Aggregate {
	a := Aggregate{Key: key}
	full, spot := make([]score, 0, len(group)), []score(nil)
	for _, x := range group {
		if x.Spot {
			spot = append(spot, score{x.PerVCPU(), x.Machine})
		} else {
			full = append(full, score{x.PerVCPU(), x.Machine})
		}
	}
	a.SpotChecks = len(spot)
	a.SpotMedian = medianOf(spot)

	a.scores = newScores(full)
	perMachine := a.scores.perMachine()
	outliers := a.scores.outliers(perMachine, s)
	if len(outliers) > 0 {
		a.scores = slices.DeleteFunc(a.scores, func(x score) bool { return outliers[x] })
		perMachine = a.scores.perMachine()
	}
	a.Machines = len(perMachine)
	if a.Median = a.scores.median(perMachine); a.Median > 0 {
		a.Spread = a.scores.deviation(a.Median, perMachine) / a.Median
	}

	var single []score
	var unitTime time.Time
	for _, x := range group {
		switch d := x.Time.Compare(unitTime); {
		case x.Unit == "" || d < 0:
		case d > 0:
			a.Unit, unitTime = x.Unit, x.Time
		default:
			a.Unit = max(a.Unit, x.Unit)
		}
		runs := max(1, x.Runs)
		switch {
		case x.Spot:
			continue
		case outliers[score{x.PerVCPU(), x.Machine}]:
			a.Outliers += runs
			continue
		}
		a.Samples += runs
		a.Oldest, a.Newest = earlier(a.Oldest, x.Time), later(a.Newest, x.Time)
		if x.SingleThread > 0 && !math.IsInf(x.SingleThread, 0) {
			single = append(single, score{x.SingleThread, x.Machine})
		}
	}
	a.SingleThread = medianOf(single)
	return a
}

// medianOf is that of scores that need not be sorted.
func medianOf(s []score) float64 {
	sorted := newScores(s)
	return sorted.median(sorted.perMachine())
}

// earlier and later pass over times that are not set.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
