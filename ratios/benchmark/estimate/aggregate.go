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
	// VCPUs is the size of the machines: scores per vCPU depend on it.
	VCPUs int
}

// Aggregate summarizes the samples of a key. Scores are per vCPU.
type Aggregate struct {
	Key
	Unit string
	// Samples is the number of samples that count, Outliers the number of samples
	// that were dropped, and Machines the number of machines of Samples. A published
	// result counts once per run. Spot checks are not included.
	Samples, Outliers, Machines int
	// ThreadsPerCore is the number of vCPUs that share a core; 0 if it is not known.
	ThreadsPerCore int
	// Median is the median of the scores, in which newer machines have more
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
	// own means that node agents measured them.
	own bool
}

// Aggregates summarizes samples by key, in the order of keys. It ignores samples that are too
// old, that ran neither on all vCPUs nor as a spot check, or whose node type is not known.
//
// Outliers are single scores, one per sample: a published result of 140 runs is one score,
// although it counts as 140 samples.
func Aggregates(samples []sample.Sample, now time.Time, s Settings) []Aggregate {
	groups := make(map[Key][]*sample.Sample)
	for i := range samples {
		x := &samples[i]
		if now.Sub(x.Time) > s.maxAge(x.IsOwn()) || !usable(x) {
			continue
		}
		key := Key{x.NodeType, x.CPUModel, x.Benchmark, x.Version, x.VCPUs}
		groups[key] = append(groups[key], x)
	}
	aggregates := make([]Aggregate, 0, len(groups))
	for key, group := range groups {
		aggregates = append(aggregates, aggregate(key, group, now, &s))
	}
	slices.SortFunc(aggregates, func(a, b Aggregate) int { return a.Compare(b.Key) })
	return aggregates
}

// Compare orders keys by node type, CPU model, benchmark, version and size.
func (k Key) Compare(other Key) int {
	return cmp.Or(
		strings.Compare(k.NodeType, other.NodeType), strings.Compare(k.CPUModel, other.CPUModel),
		strings.Compare(k.Benchmark, other.Benchmark), strings.Compare(k.Version, other.Version),
		cmp.Compare(k.VCPUs, other.VCPUs))
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
func aggregate(key Key, group []*sample.Sample, now time.Time, s *Settings) Aggregate {
	a := Aggregate{Key: key, own: group[0].IsOwn()}
	full, spot := make([]score, 0, len(group)), []score(nil)
	for _, x := range group {
		if next := s.score(x, now); x.Spot {
			spot = append(spot, next)
		} else {
			full = append(full, next)
			a.ThreadsPerCore = max(a.ThreadsPerCore, x.ThreadsPerCore)
		}
	}
	a.SpotChecks = len(spot)
	a.SpotMedian = newScores(spot).median()

	a.scores = newScores(full)
	outliers := make(map[scoreOf]bool)
	for x := range a.scores.outliers(s) {
		outliers[scoreOf{x.value, x.machine}] = true
	}
	if len(outliers) > 0 {
		a.scores = newScores(slices.DeleteFunc(a.scores, func(x score) bool { return outliers[scoreOf{x.value, x.machine}] }))
	}
	a.Machines = len(a.scores.perMachine())
	if a.Median = a.scores.median(); a.Median > 0 {
		a.Spread = a.scores.deviation(a.Median) / a.Median
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
		case outliers[scoreOf{x.PerVCPU(), x.Machine}]:
			a.Outliers += runs
			continue
		}
		a.Samples += runs
		a.Oldest, a.Newest = earlier(a.Oldest, x.Time), later(a.Newest, x.Time)
		if one := s.score(x, now); one.single > 0 {
			one.value = one.single
			single = append(single, one)
		}
	}
	a.SingleThread = newScores(single).median()
	return a
}

// scoreOf identifies the scores of a machine with the same value.
type scoreOf struct {
	value   float64
	machine string
}

// How much other processes disturb a measurement. Measured on vCPUs that do not share cores, a
// load of 60% lowers scores per CPU second by 5%, because others take part of the caches.
// machineNoise is how much equal machines differ without any load.
const (
	loadBias     = 0.05 / 0.6
	machineNoise = 0.02
)

// calm returns the weight that others' load leaves: the weight of a measurement with this bias,
// compared to one without, if the sum of the squares of noise and bias must be minimal.
func calm(load float64) float64 {
	bias := loadBias * load / machineNoise
	return 1 / (1 + bias*bias)
}

// score returns the score of a sample. Its weight halves three times until the sample no longer
// counts, and is lower if other processes used the machine.
func (s *Settings) score(x *sample.Sample, now time.Time) score {
	halfLife := float64(s.maxAge(x.IsOwn())) / 3
	age := max(0, float64(now.Sub(x.Time)))
	v := score{value: x.PerVCPU(), machine: x.Machine, load: x.OtherLoad, recency: math.Exp2(-age/halfLife) * calm(x.OtherLoad)}
	if x.SingleThread > 0 && !math.IsInf(x.SingleThread, 0) {
		v.single = x.SingleThread
	}
	return v
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
