package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// Key identifies samples that can be compared.
type Key struct {
	NodeType, CPUModel, Benchmark, Version string
}

// Aggregate summarizes the samples of a key. Scores are per vCPU.
type Aggregate struct {
	Key
	Unit string
	// Samples is the number of samples that count, Outliers the number of samples
	// that were dropped, and Machines the number of machines of Samples. A published
	// result counts once per run. Spot checks are not included.
	Samples, Outliers, Machines int
	// Median is the median of the scores, in which all machines have the same
	// weight. Spread is their scaled median absolute deviation as a fraction of it.
	Median, Spread float64
	// SingleThread is the median score of a single thread; 0 if unknown.
	SingleThread float64
	// SpotChecks is the number of spot checks, and SpotMedian their median.
	SpotChecks int
	SpotMedian float64
	// Oldest and Newest are the times of the oldest and the newest sample that
	// counts.
	Oldest, Newest time.Time

	// scores are the scores that count.
	scores scores
}

// Aggregates summarizes samples by node type, CPU model, benchmark and version, sorted in this
// order. It ignores samples that are too old, that ran neither on all vCPUs nor as a spot
// check, or whose node type is not known.
//
// Outliers are single scores, one per sample: a published result of 140 runs is one score,
// although it counts as 140 samples.
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

// usable reports whether a sample can be compared with others.
func usable(x *sample.Sample) bool {
	if x.NodeType == "" || x.Threads < 1 || !x.Spot && x.Threads != x.VCPUs {
		return false
	}
	v := x.PerVCPU()
	return v > 0 && !math.IsInf(v, 0)
}

// aggregate summarizes the samples of one key.
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

// medianOf returns the median of scores in any order.
func medianOf(s []score) float64 {
	sorted := newScores(s)
	return sorted.median(sorted.perMachine())
}

// earlier and later ignore zero times.
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
