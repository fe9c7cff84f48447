package estimate

import (
	"fmt"
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/internal/student"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestInterval(t *testing.T) {
	t.Run("combines the half-widths of machines and benchmarks", combinesTheHalfWidthsOfMachinesAndBenchmarks)
	t.Run("a node type's own machines replace the prior", aNodeTypesOwnMachinesReplaceThePrior)
	t.Run("both sides have their own degrees of freedom", bothSidesHaveTheirOwnDegreesOfFreedom)
	t.Run("older machines count less", olderMachinesCountLess)
	t.Run("several sizes have more machines than one", severalSizesHaveMoreMachinesThanOne)
	t.Run("is unknown with one machine of the node agent on one side", isUnknownWithOneMachineOfTheNodeAgentOnOneSide)
	t.Run("without a prior, machines do not differ", withoutAPriorMachinesDoNotDiffer)
	t.Run("a benchmark that hardly counts leaves no spread", aBenchmarkThatHardlyCountsLeavesNoSpread)
	t.Run("is unknown where nothing tells how much ratios vary", isUnknownWhereNothingTellsHowMuchRatiosVary)
	t.Run("more confidence is wider", moreConfidenceIsWider)
	t.Run("a benchmark that is only shown does not move an interval", aBenchmarkThatIsOnlyShownDoesNotMoveAnInterval)
}

// half returns the half-width of an interval, as a logarithm.
func half(e Estimate) float64 { return math.Log(e.Interval.High/e.Interval.Low) / 2 }

// Three benchmarks have the ratios 1, 1.1 and 1.21, whose logarithms have the standard deviation
// ln 1.1. With one machine per side, each has the prior of 2%.
func combinesTheHalfWidthsOfMachinesAndBenchmarks(t *testing.T) {
	var samples []sample.Sample
	for i, benchmark := range []string{"x", "y", "z"} {
		for _, nodeType := range []string{"n2d", "n4"} {
			s := published(nodeType, benchmark, 100)
			s.Machine = nodeType
			if nodeType == "n4" {
				s.Score *= math.Pow(1.1, float64(i))
			}
			samples = append(samples, s)
		}
	}
	e := estimates(samples, "n2d", Defaults())["n4"]
	const t2, z = 4.302653, 1.959964
	benchmarks, machines := t2*math.Log(1.1)/math.Sqrt(3), z*0.02*math.Sqrt(2)
	if want := math.Hypot(benchmarks, machines); !near(half(e), want, 1e-6) || !near(e.Spread, math.Log(1.1), 1e-9) {
		t.Errorf("half-width %v, want %v; spread %v", half(e), want, e.Spread)
	}
	// The benchmarks may have agreed by chance.
	if want := math.Hypot(benchmarks*math.Sqrt(2/0.210721), machines); !near(e.certain, want, 1e-5) {
		t.Errorf("certain to %v, want %v", e.certain, want)
	}
}

// The machines of n4 are at 1, 1.02 and 1.04, and those of the baseline at 1. All benchmarks
// agree, so that only machines matter; only one side varies, which has two degrees of freedom.
func aNodeTypesOwnMachinesReplaceThePrior(t *testing.T) {
	var samples []sample.Sample
	for _, benchmark := range []string{"a", "b"} {
		samples = append(samples, batch{"n2d", benchmark, 100, []int{1, 1, 1}}.samples()...)
		for m, x := range (batch{"n4", benchmark, 100, []int{1, 1, 1}}).samples() {
			x.Score *= math.Exp(0.02 * float64(m))
			samples = append(samples, x)
		}
	}
	e := estimates(samples, "n2d", lenient())["n4"]
	if want := 4.302653 * 0.02 / math.Sqrt(3); !near(half(e), want, 1e-6) {
		t.Errorf("half-width %v, want %v", half(e), want)
	}
}

// spaced returns scores of the node agent by two benchmarks that agree. The logarithms of machines
// differ by 0.02 each.
func spaced(nodeType string, machines int) []sample.Sample {
	var samples []sample.Sample
	for _, benchmark := range []string{"a", "b"} {
		for m, x := range (batch{nodeType: nodeType, benchmark: benchmark, score: 100}).of(machines) {
			x.Score *= math.Exp(0.02 * float64(m))
			samples = append(samples, x)
		}
	}
	return samples
}

// The variances of 3 and 4 machines are 0.02² and 0.02² × 5/3.
func bothSidesHaveTheirOwnDegreesOfFreedom(t *testing.T) {
	e := estimates(append(spaced("n2d", 3), spaced("n4", 4)...), "n2d", lenient())["n4"]
	a, b := 0.02*0.02*5/3/4, 0.02*0.02/3
	freedom := (a + b) * (a + b) / (a*a/3 + b*b/2)
	if want := student.Quantile(0.95, freedom) * math.Sqrt(a+b); !near(half(e), want, 1e-6) {
		t.Errorf("half-width %v, want %v", half(e), want)
	}
}

// The second machine of n4 is as old as a third of the maximum age, so that it has half the weight.
func olderMachinesCountLess(t *testing.T) {
	s := lenient()
	samples := spaced("n4", 2)
	for i := range samples {
		if i%2 == 1 {
			samples[i].Time = now.Add(-s.MaxAgeMeasured / 3)
		}
	}
	for _, x := range spaced("n2d", 2) {
		x.Score = 100
		samples = append(samples, x)
	}
	e := estimates(samples, "n2d", s)["n4"]
	mean := 0.02 / 3
	variance := mean*mean + (0.02-mean)*(0.02-mean)
	if want := 12.7062 * math.Sqrt(variance*(4+1)/9); !near(half(e), want, 1e-5) {
		t.Errorf("half-width %v, want %v", half(e), want)
	}
}

func severalSizesHaveMoreMachinesThanOne(t *testing.T) {
	up := math.Log2(11.0 / 8)
	for _, tc := range []struct {
		name     string
		of, base map[int]float64
		squares  float64
	}{
		{"one size", map[int]float64{8: 100}, map[int]float64{8: 100}, 1 + 1},
		{"two sizes that count alike", map[int]float64{2: 100, 8: 100}, map[int]float64{2: 100, 8: 100}, 0.5 + 0.5},
		{"two sizes of the baseline stand for one", map[int]float64{11: 100}, map[int]float64{8: 100, 16: 100}, 1 + up*up + (1-up)*(1-up)},
	} {
		e := estimates(append(sized("n2d", tc.base), sized("n4", tc.of)...), "n2d", Defaults())["n4"]
		if want := 1.959964 * 0.02 * math.Sqrt(tc.squares); !near(half(e), want, 1e-6) {
			t.Errorf("%s: half-width %v, want %v", tc.name, half(e), want)
		}
	}
}

func isUnknownWithOneMachineOfTheNodeAgentOnOneSide(t *testing.T) {
	for _, machines := range [][2]int{{1, 3}, {3, 1}} {
		if e := estimates(append(spaced("n2d", machines[0]), spaced("n4", machines[1])...), "n2d", lenient())["n4"]; e.Interval != nil {
			t.Errorf("%v machines: %+v", machines, e.Interval)
		}
	}
}

func withoutAPriorMachinesDoNotDiffer(t *testing.T) {
	s := Defaults()
	s.Prior = 0
	e := estimates(append(sized("n2d", map[int]float64{8: 100}), sized("n4", map[int]float64{8: 110})...), "n2d", s)["n4"]
	if e.Interval == nil || !near(e.Interval.Low, 1.1, 1e-9) || !near(e.Interval.High, 1.1, 1e-9) {
		t.Errorf("%+v", e.Interval)
	}
}

func aBenchmarkThatHardlyCountsLeavesNoSpread(t *testing.T) {
	s := Defaults()
	s.Weights = map[string]float64{"x": 1000, "y": 1e-300}
	e := estimates(append(sized("n2d", map[int]float64{8: 100}), sized("n4", map[int]float64{8: 110})...), "n2d", s)["n4"]
	if e.Spread != 0 || !near(half(e), 1.959964*0.02*math.Sqrt2, 1e-6) {
		t.Errorf("spread %v, interval %+v", e.Spread, e.Interval)
	}
}

func isUnknownWhereNothingTellsHowMuchRatiosVary(t *testing.T) {
	for _, tc := range []struct {
		name                 string
		benchmarks, machines int
		own, known           bool
	}{
		{"published scores of one machine", 2, 1, false, true},
		{"one benchmark", 1, 9, true, false},
		{"one published benchmark", 1, 9, false, false},
		{"one machine of the node agent", 2, 1, true, false},
		{"two machines of the node agent", 2, 2, true, true},
	} {
		var samples []sample.Sample
		for b := range tc.benchmarks {
			for _, nodeType := range []string{"n2d", "n4"} {
				for _, x := range (batch{nodeType: nodeType, benchmark: fmt.Sprint("b", b), score: 100}).of(tc.machines) {
					if !tc.own {
						x.Benchmark = fmt.Sprint("b", b)
					}
					samples = append(samples, x)
				}
			}
		}
		if e := estimates(samples, "n2d", lenient())["n4"]; (e.Interval != nil) != tc.known || e.Own != tc.own {
			t.Errorf("%s: %v, measured by agents: %v", tc.name, e.Interval, e.Own)
		}
	}
}

// noisy returns samples of two types with noise per machine and per run.
func noisy() []sample.Sample {
	return world{ratios: []float64{1.2, 1.2}, machines: 6, runs: 3, machineNoise: 0.03, runNoise: 0.02}.draw(seeded(1))
}

func moreConfidenceIsWider(t *testing.T) {
	last := 0.0
	for _, confidence := range []float64{0.5, 0.9, 0.95, 0.99} {
		s := lenient()
		s.Confidence = confidence
		e := estimates(noisy(), "base", s)["t"]
		if half(e) <= last || !covers(e.Interval, e.Ratio) {
			t.Errorf("%v: %v in %v", confidence, e.Ratio, e.Interval)
		}
		last = half(e)
	}
}

func aBenchmarkThatIsOnlyShownDoesNotMoveAnInterval(t *testing.T) {
	samples := noisy()
	before := estimates(samples, "base", lenient())["t"]
	for _, x := range noisy() {
		x.Benchmark = "bench-node:memory-" + x.Benchmark
		samples = append(samples, x)
	}
	after := estimates(samples, "base", lenient())["t"]
	if len(after.Parts) != 4 || *after.Interval != *before.Interval {
		t.Errorf("%v with %d parts, before %v", after.Interval, len(after.Parts), before.Interval)
	}
}

// covers reports whether a ratio is within an interval.
func covers(i *Interval, ratio float64) bool { return i.Low <= ratio && ratio <= i.High }
