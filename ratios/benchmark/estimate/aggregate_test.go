package estimate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// run returns a sample of a machine with one vCPU.
func run(machine string, score float64) sample.Sample {
	return sample.Sample{NodeType: "n4", Benchmark: "bench-node:b", Score: score, VCPUs: 1, Threads: 1, Machine: machine, Time: now}
}

// runs returns samples of different machines.
func runs(scores ...float64) []sample.Sample {
	var samples []sample.Sample
	for i, score := range scores {
		samples = append(samples, run(fmt.Sprint(i), score))
	}
	return samples
}

func TestAggregates(t *testing.T) {
	with := func(x sample.Sample, change func(*sample.Sample)) sample.Sample { change(&x); return x }
	old := func(age time.Duration) func(*sample.Sample) {
		return func(x *sample.Sample) { x.Time = now.Add(-age) }
	}
	for _, tc := range []struct {
		name                        string
		samples                     []sample.Sample
		count, outliers, machines   int
		median, spread, singleThead float64
		spotChecks                  int
		spotMedian                  float64
	}{
		{name: "the median of an even number of scores is between the middle two", samples: runs(10, 40, 20, 30),
			count: 4, machines: 4, median: 25, spread: 1.4826 * 10 / 25},
		{name: "the median of an odd number of scores is the middle one", samples: runs(10, 50, 20, 30, 40),
			count: 5, machines: 5, median: 30, spread: 1.4826 * 10 / 30},
		{name: "scores count per vCPU", samples: []sample.Sample{
			with(run("a", 80), func(x *sample.Sample) { x.VCPUs, x.Threads, x.SingleThread = 8, 8, 17 })},
			count: 1, machines: 1, median: 10, singleThead: 17},
		{name: "only samples with a single-thread score count for its median", samples: []sample.Sample{
			run("a", 10), with(run("b", 10), func(x *sample.Sample) { x.SingleThread = 17 }), run("c", 10)},
			count: 3, machines: 3, median: 10, singleThead: 17},
		// The median of all six is 100.5 and their median deviation 1.5, so that
		// 1.4826 × 1.5 × 3.5 = 7.8 is the limit; of the first five, these are 100 and 1.
		{name: "a score farther than 3.5 deviations from the median is dropped", samples: runs(98, 99, 100, 101, 102, 109),
			count: 5, outliers: 1, machines: 5, median: 100, spread: 0.014826},
		{name: "a nearer score is kept", samples: runs(98, 99, 100, 101, 102, 108),
			count: 6, machines: 6, median: 100.5, spread: 1.4826 * 1.5 / 100.5},
		{name: "a score at exactly the limit is kept", samples: runs(1000, 1000, 1000, 1000, 1003.5),
			count: 5, machines: 5, median: 1000},
		{name: "nothing is dropped of four samples", samples: runs(100, 100, 100, 200),
			count: 4, machines: 4, median: 100},
		{name: "if most scores are equal, a slightly different one is kept", samples: runs(100, 100, 100, 100, 106.9),
			count: 5, machines: 5, median: 100},
		{name: "if most scores are equal, a more different one is dropped", samples: runs(100, 100, 100, 100, 107.1),
			count: 4, outliers: 1, machines: 4, median: 100},
		{name: "a machine that was measured often has the same weight as one that was measured once",
			samples: append(runs(110, 111), run("x", 90), run("x", 91), run("x", 92), run("x", 93), run("x", 94), run("x", 95)),
			count:   8, machines: 3, median: 110, spread: 1.4826 * 1 / 110},
		{name: "runs of one machine do not make the others outliers",
			samples: append(runs(110), run("x", 100), run("x", 100), run("x", 100), run("x", 100), run("x", 100)),
			count:   6, machines: 2, median: 105, spread: 1.4826 * 5 / 105},
		{name: "with few machines, single runs are dropped, but no machine as a whole",
			samples: append(runs(100, 101, 102), run("x", 100.5), run("x", 150)),
			count:   4, outliers: 1, machines: 4, median: 100.75, spread: 1.4826 * 0.5 / 100.75},
		{name: "with many machines, one is dropped as a whole",
			samples: append(runs(100, 101, 102, 103), run("x", 150), run("x", 151)),
			count:   4, outliers: 2, machines: 4, median: 101.5, spread: 1.4826 * 1 / 101.5},
		{name: "a published result counts once per run, and is one score of one machine",
			samples: []sample.Sample{with(run("a", 10), func(x *sample.Sample) { x.Runs = 140 }), run("b", 20)},
			count:   141, machines: 2, median: 15, spread: 1.4826 * 5 / 15},
		{name: "an outlier counts once per run",
			samples: append(runs(100, 100, 100, 100), with(run("a", 200), func(x *sample.Sample) { x.Runs = 7 })),
			count:   4, outliers: 7, machines: 4, median: 100},
		{name: "spot checks count separately", samples: []sample.Sample{
			with(run("a", 80), func(x *sample.Sample) { x.VCPUs, x.Threads = 8, 8 }),
			with(run("b", 30), func(x *sample.Sample) { x.VCPUs, x.Spot = 8, true }),
			with(run("c", 40), func(x *sample.Sample) { x.VCPUs, x.Spot = 8, true })},
			count: 1, machines: 1, median: 10, spotChecks: 2, spotMedian: 35},
		{name: "spot checks alone have no median", samples: []sample.Sample{
			with(run("b", 30), func(x *sample.Sample) { x.Spot = true })}, spotChecks: 1, spotMedian: 30},
		{name: "a run on only some of the vCPUs is ignored", samples: []sample.Sample{run("a", 10),
			with(run("b", 30), func(x *sample.Sample) { x.VCPUs, x.Threads = 8, 4 })}, count: 1, machines: 1, median: 10},
		{name: "a sample that is too old is ignored", samples: []sample.Sample{
			with(run("b", 30), old(90*24*time.Hour+1)), with(run("a", 10), old(90*24*time.Hour))}, count: 1, machines: 1, median: 10},
		{name: "a sample without a node type is ignored", samples: []sample.Sample{run("a", 10),
			with(run("b", 30), func(x *sample.Sample) { x.NodeType = "" })}, count: 1, machines: 1, median: 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			all := Aggregates(tc.samples, now, Defaults())
			if len(all) != 1 {
				t.Fatalf("%d aggregates, want 1: %+v", len(all), all)
			}
			a := all[0]
			if a.Samples != tc.count || a.Outliers != tc.outliers || a.Machines != tc.machines || a.SpotChecks != tc.spotChecks {
				t.Errorf("samples %d, outliers %d, machines %d, spot checks %d; want %d, %d, %d, %d",
					a.Samples, a.Outliers, a.Machines, a.SpotChecks, tc.count, tc.outliers, tc.machines, tc.spotChecks)
			}
			if !near(a.Median, tc.median, 1e-9) || !near(a.Spread, tc.spread, 1e-9) ||
				!near(a.SingleThread, tc.singleThead, 1e-9) || !near(a.SpotMedian, tc.spotMedian, 1e-9) {
				t.Errorf("median %v, spread %v, single thread %v, spot %v; want %v, %v, %v, %v",
					a.Median, a.Spread, a.SingleThread, a.SpotMedian, tc.median, tc.spread, tc.singleThead, tc.spotMedian)
			}
		})
	}
}

func TestAggregate(t *testing.T) {
	t.Run("uses the newest unit", usesTheNewestUnit)
	t.Run("sorts aggregates by key", sortsAggregatesByKey)
	t.Run("published scores count for years", publishedScoresCountForYears)
	t.Run("newer samples have more weight", newerSamplesHaveMoreWeight)
}

func usesTheNewestUnit(t *testing.T) {
	for _, tc := range []struct {
		name  string
		units []string // Of samples, each an hour older than the previous one.
		same  bool     // All have the same time.
		want  string
	}{
		{"regardless of its name", []string{"KB/s", "MB/s"}, false, "KB/s"},
		{"an empty unit is ignored", []string{"", "KB/s", "MB/s"}, false, "KB/s"},
		{"the last by name of several with the same time", []string{"KB/s", "MB/s", "", "GB/s"}, true, "MB/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for i, unit := range tc.units {
				x := run("a", 10)
				if x.Unit = unit; !tc.same {
					x.Time = now.Add(-time.Duration(i) * time.Hour)
				}
				samples = append(samples, x)
			}
			for range samples { // Start from each of them.
				samples = append(samples[1:], samples[0])
				if a := Aggregates(samples, now, Defaults())[0]; a.Unit != tc.want {
					t.Errorf("%q, want %q", a.Unit, tc.want)
				}
			}
		})
	}
}

func sortsAggregatesByKey(t *testing.T) {
	var samples []sample.Sample
	want := []Key{
		{"c3", "", "a", "", 2}, {"n4", "", "a", "1", 2}, {"n4", "", "a", "2", 2}, {"n4", "", "b", "1", 2}, {"n4", "", "b", "1", 4}, {"n4", "Intel-6-207", "a", "1", 2},
	}
	for i := len(want) - 1; i >= 0; i-- {
		k := want[i]
		for hour := range 2 {
			x := run("m", 10)
			x.NodeType, x.CPUModel, x.Benchmark, x.Version = k.NodeType, k.CPUModel, k.Benchmark, k.Version
			x.VCPUs, x.Threads = k.VCPUs, k.VCPUs
			x.Time = now.Add(-time.Duration(hour) * time.Hour)
			x.Unit = []string{"MB/s", "KB/s"}[hour]
			samples = append(samples, x)
		}
	}
	got := Aggregates(samples, now, Defaults())
	if len(got) != len(want) {
		t.Fatalf("%d aggregates, want %d", len(got), len(want))
	}
	for i, a := range got {
		if a.Key != want[i] || a.Unit != "MB/s" || !a.Newest.Equal(now) || !a.Oldest.Equal(now.Add(-time.Hour)) {
			t.Errorf("%d: %+v, want %v in the newest unit, MB/s, of %s and an hour before", i, a, want[i], now)
		}
	}
}

func publishedScoresCountForYears(t *testing.T) {
	const day = 24 * time.Hour
	for _, tc := range []struct {
		benchmark string
		age       time.Duration
		want      int
	}{
		{"bench-node:json", 90 * day, 1}, {"bench-node:json", 91 * day, 0}, {"coremark", 91 * day, 1}, {"coremark", 3 * 365 * day, 1}, {"coremark", 3*365*day + 1, 0},
	} {
		x := run("a", 10)
		x.Benchmark, x.Time = tc.benchmark, now.Add(-tc.age)
		if got := len(Aggregates([]sample.Sample{x}, now, Defaults())); got != tc.want {
			t.Errorf("%s, %s old: %d aggregates, want %d", tc.benchmark, tc.age, got, tc.want)
		}
	}
}

// A sample of the node agent has half of the weight after 30 days. One machine was measured
// twice, which shares its weight.
func newerSamplesHaveMoreWeight(t *testing.T) {
	aged := func(machine string, score float64, days int) sample.Sample {
		x := run(machine, score)
		x.Time = now.Add(-time.Duration(days) * 24 * time.Hour)
		return x
	}
	a := Aggregates([]sample.Sample{aged("a", 100, 0), aged("a", 400, 30), aged("b", 50, 60)}, now, Defaults())[0]
	want := map[float64]float64{100: 2.0 / 3, 400: 1.0 / 3, 50: 0.25}
	for _, x := range a.scores {
		if !near(x.weight, want[x.value], 1e-9) {
			t.Errorf("%v has weight %v, want %v", x.value, x.weight, want[x.value])
		}
	}
	if mean, _ := a.scores.means(); !near(mean, (2*math.Log(100)/3+math.Log(400)/3+math.Log(50)/4)/1.25, 1e-9) {
		t.Errorf("mean %v", mean)
	}
}
