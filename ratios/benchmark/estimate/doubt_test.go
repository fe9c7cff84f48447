package estimate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// ownName returns the name of a benchmark of the node agent.
func ownName(benchmark string) string {
	if strings.HasPrefix(benchmark, sample.AgentPrefix) {
		return benchmark
	}
	return sample.AgentPrefix + benchmark
}

// lenient returns settings that are satisfied with two machines and any interval.
func lenient() Settings {
	s := Defaults()
	s.MinMachines, s.ToleranceMeasured, s.TolerancePublished = 2, math.Inf(1), math.Inf(1)
	return s
}

// batch has the samples of one node type by one benchmark of the node agent, per machine.
type batch struct {
	nodeType, benchmark string
	score               float64
	perMachine          []int
}

func (b batch) samples() []sample.Sample {
	var samples []sample.Sample
	for m, n := range b.perMachine {
		for range n {
			samples = append(samples, sample.Sample{
				NodeType: b.nodeType, Benchmark: ownName(b.benchmark), Score: b.score, VCPUs: 1, Threads: 1,
				Machine: fmt.Sprintf("%s-%d", b.nodeType, m), Time: now,
			})
		}
	}
	return samples
}

func TestDoubts(t *testing.T) {
	enough := []int{2, 1}
	for _, tc := range []struct {
		name    string
		batches []batch
		change  func(*Settings)
		ratio   float64
		want    []Doubt
	}{
		{name: "3 samples of 2 machines by 2 benchmarks on both sides are enough", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, enough}, {"n4", "b", 110, enough},
		}, ratio: 1.1},
		{name: "2 samples are not enough", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, []int{1, 1}}, {"n4", "b", 110, enough},
		}, ratio: 1.1, want: []Doubt{{TooFewSamples, "2 samples per benchmark of n4, 3 are needed"}}},
		{name: "1 machine is not enough", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, []int{9}}, {"n4", "b", 110, []int{9}},
		}, ratio: 1.1, want: []Doubt{{TooFewMachines, "1 machine per benchmark of n4, 2 are needed"}}},
		{name: "the same doubts for the baseline", batches: []batch{
			{"n2d", "a", 100, []int{1}}, {"n2d", "b", 100, []int{1}}, {"n4", "a", 110, enough}, {"n4", "b", 110, enough},
		}, ratio: 1.1, want: []Doubt{
			{TooFewSamples, "1 sample per benchmark of baseline n2d, 3 are needed"},
			{TooFewMachines, "1 machine per benchmark of baseline n2d, 2 are needed"}}},
		{name: "1 benchmark is not enough", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, enough}, {"n4", "c", 110, enough},
		}, ratio: 1.1, want: []Doubt{{TooFewBenchmarks, "1 benchmark for both n4 and baseline n2d, 2 are needed"}}},
		{name: "without a common benchmark, there is no ratio", batches: []batch{
			{"n2d", "a", 100, enough}, {"n4", "b", 110, enough},
		}, want: []Doubt{{TooFewBenchmarks, "0 benchmarks for both n4 and baseline n2d, 2 are needed"}}},
		{name: "names a baseline that was not measured", batches: []batch{
			{"n4", "a", 110, enough},
		}, want: []Doubt{{TooFewBenchmarks, "baseline n2d was not measured"}}},
		{name: "each side lacks samples in a different benchmark", batches: []batch{
			{"n2d", "a", 100, []int{1, 1}}, {"n2d", "b", 100, enough}, {"n2d", "c", 100, enough},
			{"n4", "a", 110, enough}, {"n4", "b", 110, []int{1, 1}}, {"n4", "c", 110, enough},
		}, ratio: 1.1, want: []Doubt{{TooFewBenchmarks, "1 benchmark with enough samples and machines for both n4 and baseline n2d, 2 are needed"}}},
		{name: "a benchmark with too few samples is ignored if there are enough others", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n2d", "c", 100, enough},
			{"n4", "a", 110, enough}, {"n4", "b", 110, enough}, {"n4", "c", 300, []int{1}},
		}, ratio: 1.1},
		{name: "a benchmark that is only shown is not one of these others", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n2d", "c", 100, enough},
			{"n4", "a", 110, enough}, {"n4", "b", 121, []int{1}}, {"n4", "c", 300, enough},
		}, change: func(s *Settings) { s.Weights = map[string]float64{"bench-node:c": 0} },
			ratio: 1.153689733, want: []Doubt{
				{TooFewSamples, "1 sample per benchmark of n4, 3 are needed"},
				{TooFewMachines, "1 machine per benchmark of n4, 2 are needed"}}},
		{name: "benchmarks that are only shown count neither as benchmarks nor in the spread", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, enough}, {"n4", "b", 300, enough},
		}, change: func(s *Settings) { s.Weights = map[string]float64{"bench-node:b": 0} },
			ratio: 1.1, want: []Doubt{{TooFewBenchmarks, "1 benchmark for both n4 and baseline n2d, 2 are needed"}}},
		{name: "an interval within the tolerance is narrow enough", batches: []batch{
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 110, enough}, {"n4", "b", 110, enough},
		}, change: func(s *Settings) { s.ToleranceMeasured = 0 }, ratio: 1.1},
		{name: "an interval beyond the tolerance is too wide", batches: []batch{ // t = 12.7, s = ln(1.02)/√2, k = 2, and s may be 7.96 times as large.
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 100, enough}, {"n4", "b", 102, enough},
		}, change: func(s *Settings) { s.ToleranceMeasured = 1.7 }, ratio: 1.009950494, want: []Doubt{
			{IntervalTooWide, "the ratio is between 0.89 and 1.15, and because few benchmarks may agree by chance, only certain to ±172.2%; at most ±170.0% is allowed for measurements of nodes"}}},
		{name: "an interval that says nothing has no percentage of certainty", batches: []batch{
			{"n2d", "a", 1, enough}, {"n2d", "b", 1, enough}, {"n4", "a", 2000, enough}, {"n4", "b", 8000, enough},
		}, change: func(s *Settings) { s.ToleranceMeasured = 0.03 }, ratio: 4000, want: []Doubt{
			{IntervalTooWide, "the ratio is between 0.60 and 2.67e+07, and because few benchmarks may agree by chance, not certain at all; at most ±3.0% is allowed for measurements of nodes"}}},
		{name: "weights count in the mean", batches: []batch{ // 1^(1/4) × 1.21^(3/4)
			{"n2d", "a", 100, enough}, {"n2d", "b", 100, enough}, {"n4", "a", 100, enough}, {"n4", "b", 121, enough},
		}, change: func(s *Settings) { s.Weights = map[string]float64{"bench-node:b": 3} }, ratio: 1.153689733},
		{name: "the minimums come from the settings", batches: []batch{
			{"n2d", "a", 100, []int{1}}, {"n4", "a", 110, []int{1}},
		}, change: func(s *Settings) { s.MinSamples, s.MinMachines, s.MinBenchmarks = 1, 1, 1 }, ratio: 1.1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for _, b := range tc.batches {
				samples = append(samples, b.samples()...)
			}
			s := lenient()
			if tc.change != nil {
				tc.change(&s)
			}
			e := estimates(samples, "n2d", s)["n4"]
			if !near(e.Ratio, tc.ratio, 1e-9) || !slices.Equal(e.Doubts, tc.want) {
				t.Errorf("ratio %.9f, doubts %q; want %.9f, %q", e.Ratio, e.Doubts, tc.ratio, tc.want)
			}
			for _, h := range e.Doubts {
				if h.Code.NotEnough() != (h.Code != IntervalTooWide) {
					t.Errorf("NotEnough of %s is %v", h.Code, h.Code.NotEnough())
				}
			}
		})
	}
}

func TestDoubt(t *testing.T) {
	t.Run("counts only the compared samples of an estimate", countsOnlyTheComparedSamplesOfAnEstimate)
	t.Run("uses the weight of the longest matching name", usesTheWeightOfTheLongestMatchingName)
	t.Run("estimates nothing without a baseline", estimatesNothingWithoutABaseline)
}

func countsOnlyTheComparedSamplesOfAnEstimate(t *testing.T) {
	var samples []sample.Sample
	add := func(age time.Duration, b batch) {
		for _, x := range b.samples() {
			x.Time = now.Add(-age)
			samples = append(samples, x)
		}
	}
	add(0, batch{"n2d", "a", 100, []int{3, 3}})
	add(0, batch{"n2d", "b", 100, []int{3, 3}})
	add(3*time.Hour, batch{"n4", "a", 110, []int{2, 1}})
	add(2*time.Hour, batch{"n4", "b", 110, []int{2, 2}})
	add(4*time.Hour, batch{"n4", "c", 110, []int{1, 1, 1, 1, 1}})
	add(1*time.Hour, batch{"n4", "bench-node:memory-copy", 110, []int{1, 1, 1, 1, 1, 1}})
	for _, tc := range []struct {
		name, baseline    string
		samples, machines int
		oldest, newest    time.Duration
	}{
		{"only samples of compared benchmarks", "n2d", 7, 2, 3 * time.Hour, 2 * time.Hour},
		{"all samples while none can be compared", "c3", 18, 6, 4 * time.Hour, time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := estimates(samples, tc.baseline, lenient())["n4"]
			if e.Samples != tc.samples || e.Machines != tc.machines || now.Sub(e.Oldest) != tc.oldest || now.Sub(e.Newest) != tc.newest {
				t.Errorf("%d of %d machines, %s to %s old; want %d of %d, %s to %s", e.Samples, e.Machines, now.Sub(e.Oldest), now.Sub(e.Newest),
					tc.samples, tc.machines, tc.oldest, tc.newest)
			}
		})
	}
}

func usesTheWeightOfTheLongestMatchingName(t *testing.T) {
	s := Settings{Weights: map[string]float64{"bench-node:*": 2, "bench-node:memory-*": 0, "bench-node:memory-copy": 0.5, "*": 3}}
	for benchmark, want := range map[string]float64{
		"bench-node:json": 2, "bench-node:memory-latency": 0, "bench-node:memory-copy": 0.5, "coremark": 3,
	} {
		if got := s.weight(benchmark); got != want {
			t.Errorf("%s has weight %v, want %v", benchmark, got, want)
		}
	}
	if got := (&Settings{}).weight("coremark"); got != 1 {
		t.Errorf("without weights: %v, want 1", got)
	}
}

func estimatesNothingWithoutABaseline(t *testing.T) {
	if got := Estimates(Aggregates(batch{"n4", "a", 1, []int{1}}.samples(), now, Defaults()), "", Cluster{}, Defaults()); got != nil {
		t.Errorf("%+v", got)
	}
}
