package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// world defines the true values from which samples are drawn.
type world struct {
	// ratios of type "t" to "base", per benchmark.
	ratios []float64
	// machines per type, and runs of each benchmark per machine.
	machines, runs int
	// machineNoise is the noise of machines of a type in all benchmarks,
	// runNoise the noise of runs on a machine: standard deviations as
	// fractions.
	machineNoise, runNoise float64
	// outliers is the fraction of samples that are off by half.
	outliers float64
	// otherModel is the fraction of the machines of "t" that have another CPU,
	// which is otherSpeed times as fast. hideModels omits the CPU model of samples.
	otherModel, otherSpeed float64
	hideModels             bool
}

func (w world) draw(random *rand.Rand) []sample.Sample {
	var samples []sample.Sample
	for _, nodeType := range []string{"base", "t"} {
		for m := range w.machines {
			machine := 1 + w.machineNoise*random.NormFloat64()
			model := ""
			if nodeType == "t" && float64(m) < w.otherModel*float64(w.machines) {
				machine *= w.otherSpeed
				model = "new"
			} else if w.otherModel > 0 {
				model = "old"
			}
			if w.hideModels {
				model = ""
			}
			for b, ratio := range w.ratios {
				if nodeType == "base" {
					ratio = 1
				}
				for range w.runs {
					score := 1000 * ratio * machine * (1 + w.runNoise*random.NormFloat64())
					if random.Float64() < w.outliers {
						score *= 1 + 0.5*float64(1-2*random.IntN(2))
					}
					samples = append(samples, sample.Sample{
						ID: fmt.Sprint(len(samples)), NodeType: nodeType, CPUModel: model, Benchmark: fmt.Sprintf("b%d", b),
						Score: max(score, 1), VCPUs: 1, Threads: 1, Machine: fmt.Sprintf("%s-%d", nodeType, m), Time: now,
					})
				}
			}
		}
	}
	return samples
}

var now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// accuracy is how far estimates are from the true ratio, as fractions of it, and how
// often the interval contains the true ratio.
type accuracy struct {
	median, p95, covered float64
	// width is the median width of the intervals, as a fraction of the true ratio.
	width float64
	// doubts is the fraction of simulations per doubt.
	doubts map[Code]float64
}

// simulate estimates the ratio of a name many times, with intervals from the given
// number of resamples.
func (w world) simulate(name string, truth float64, times, resamples int) accuracy {
	s := Defaults()
	s.Resamples = resamples
	result := accuracy{doubts: make(map[Code]float64)}
	var all, widths []float64
	for i := range times {
		e := estimates(w.draw(rand.New(rand.NewPCG(uint64(i), 1))), "base", s)[name]
		all = append(all, math.Abs(e.Ratio/truth-1))
		widths = append(widths, (e.High-e.Low)/truth)
		if e.Low <= truth && truth <= e.High {
			result.covered++
		}
		codes := make(map[Code]bool)
		for _, h := range e.Doubts {
			codes[h.Code] = true
		}
		for code := range codes {
			result.doubts[code]++
		}
	}
	result.covered /= float64(times)
	for code := range result.doubts {
		result.doubts[code] /= float64(times)
	}
	slices.Sort(all)
	slices.Sort(widths)
	result.width = widths[times/2]
	result.median, result.p95 = all[times/2], all[times*95/100]
	return result
}

var same = []float64{1.08, 1.08, 1.08, 1.08}

func TestSimulation(t *testing.T) {
	t.Run("estimates are close", estimatesAreClose)
	t.Run("holds doubtful estimates back", holdsDoubtfulEstimatesBack)
	t.Run("handles CPUs without a name", handlesCPUsWithoutAName)
	t.Run("intervals contain the true ratio", intervalsContainTheTrueRatio)
}

func estimatesAreClose(t *testing.T) {
	for _, tc := range []struct {
		name   string
		world  world
		of     string
		truth  float64
		within [2]float64 // Of the error: median and 95th percentile.
	}{
		{"runs that differ by 0.1%", world{ratios: same, machines: 3, runs: 3, runNoise: 0.001}, "t", 1.08, [2]float64{0.0004, 0.001}},
		{"runs that differ by 1%", world{ratios: same, machines: 3, runs: 3, runNoise: 0.01}, "t", 1.08, [2]float64{0.004, 0.01}},
		{"runs that differ by 5%", world{ratios: same, machines: 3, runs: 3, runNoise: 0.05}, "t", 1.08, [2]float64{0.015, 0.04}},
		{"runs that differ by 13%", world{ratios: same, machines: 3, runs: 3, runNoise: 0.13}, "t", 1.08, [2]float64{0.04, 0.1}},
		{"13% on many machines", world{ratios: same, machines: 30, runs: 3, runNoise: 0.13}, "t", 1.08, [2]float64{0.012, 0.03}},
		{"machines that differ by 3%", world{ratios: same, machines: 10, runs: 3, machineNoise: 0.03, runNoise: 0.01}, "t", 1.08, [2]float64{0.015, 0.04}},
		{"1 of 10 samples off by half", world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, outliers: 0.1}, "t", 1.08, [2]float64{0.004, 0.01}},
		{"the same with few machines", world{ratios: same, machines: 3, runs: 3, runNoise: 0.02, outliers: 0.1}, "t", 1.08, [2]float64{0.008, 0.025}},
		{"the geometric mean of benchmarks that differ slightly", world{ratios: []float64{1, 1.05, 1.1, 1.15}, machines: 5, runs: 3, runNoise: 0.02}, "t", 1.07349, [2]float64{0.006, 0.015}},
		{"a new CPU in 3 of 10 machines: the new model", world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, otherModel: 0.3, otherSpeed: 1.5}, "t@new", 1.62, [2]float64{0.006, 0.02}},
		{"a new CPU in 3 of 10 machines: the old model", world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, otherModel: 0.3, otherSpeed: 1.5}, "t@old", 1.08, [2]float64{0.006, 0.015}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := tc.world.simulate(tc.of, tc.truth, 100, 0)
			t.Logf("error: median %.2f %%, 95th percentile %.2f %%", 100*e.median, 100*e.p95)
			if e.median > tc.within[0] || e.p95 > tc.within[1] {
				t.Errorf("error %.4f and %.4f, want at most %v", e.median, e.p95, tc.within)
			}
		})
	}
}

func holdsDoubtfulEstimatesBack(t *testing.T) {
	for _, tc := range []struct {
		name  string
		world world
		code  Code
		// least and most are the range for the fraction of simulations that are held back
		// for the code.
		least, most float64
	}{
		{"one run on each of 2 machines", world{ratios: same, machines: 2, runs: 1, runNoise: 0.01}, TooFewSamples, 1, 1},
		{"many runs on 1 machine", world{ratios: same, machines: 1, runs: 9, runNoise: 0.01}, TooFewMachines, 1, 1},
		{"one benchmark", world{ratios: same[:1], machines: 9, runs: 3, runNoise: 0.01}, TooFewBenchmarks, 1, 1},
		{"benchmarks that disagree", world{ratios: []float64{1.08, 0.97, 1.26, 0.64}, machines: 5, runs: 3, runNoise: 0.05}, BenchmarksDisagree, 1, 1},
		{"benchmarks that agree, with noise", world{ratios: same, machines: 5, runs: 3, runNoise: 0.05}, BenchmarksDisagree, 0, 0},
		{"outliers do not count as disagreement", world{ratios: same, machines: 5, runs: 3, runNoise: 0.02, outliers: 0.1}, BenchmarksDisagree, 0, 0},
		{"a CPU that is 1.2 times as fast", world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, otherModel: 0.2, otherSpeed: 1.2}, ModelsDiffer, 1, 1},
		{"a CPU that is equally fast", world{ratios: same, machines: 10, runs: 3, machineNoise: 0.02, runNoise: 0.02, otherModel: 0.2, otherSpeed: 1}, ModelsDiffer, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.world.simulate("t", 1.08, 50, 0).doubts[tc.code]; got < tc.least || got > tc.most {
				t.Errorf("%s in %.0f %%, want %.0f to %.0f %%", tc.code, 100*got, 100*tc.least, 100*tc.most)
			}
		})
	}
}

// A new CPU that samples do not name cannot be distinguished from outliers while few
// machines have it. When many have it, it makes the interval wide.
func handlesCPUsWithoutAName(t *testing.T) {
	w := world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, otherSpeed: 1.5, hideModels: true}
	w.otherModel = 0.2
	if e := w.simulate("t", 1.08, 50, 0); e.p95 > 0.02 {
		t.Errorf("with 2 of 10 machines: error %.4f, want at most 0.02, as of the others", e.p95)
	}
	w.otherModel = 0.5
	for seed := range uint64(20) {
		e := estimates(w.draw(rand.New(rand.NewPCG(seed, 1))), "base", Defaults())["t"]
		if e.Low > 1.1 || e.High < 1.6 {
			t.Errorf("with 5 of 10 machines: interval [%.3f, %.3f], want from 1.08 to 1.62", e.Low, e.High)
		}
	}
}

func intervalsContainTheTrueRatio(t *testing.T) {
	for _, tc := range []struct {
		name  string
		world world
		// least is the minimum fraction of intervals with the true ratio, widest the
		// maximum of their median width.
		least, widest float64
	}{
		{"2 machines: too few", world{ratios: same[:2], machines: 2, runs: 3, machineNoise: 0.03, runNoise: 0.02}, 0.6, 0.13},
		{"3 machines: almost enough", world{ratios: same[:2], machines: 3, runs: 3, machineNoise: 0.03, runNoise: 0.02}, 0.8, 0.13},
		{"4 machines", world{ratios: same[:2], machines: 4, runs: 3, machineNoise: 0.03, runNoise: 0.02}, 0.9, 0.13},
		{"8 machines that were measured once", world{ratios: same[:2], machines: 8, runs: 1, machineNoise: 0.03, runNoise: 0.02}, 0.9, 0.11},
		{"8 machines, runs that differ by 13%", world{ratios: same[:2], machines: 8, runs: 2, runNoise: 0.13}, 0.9, 0.3},
		{"20 machines", world{ratios: same[:2], machines: 20, runs: 2, machineNoise: 0.05, runNoise: 0.02}, 0.9, 0.11},
		{"20 machines, 1 of 10 samples off by half", world{ratios: same[:2], machines: 20, runs: 2, machineNoise: 0.02, runNoise: 0.02, outliers: 0.1}, 0.9, 0.06},
		{"70 machines, resampled less often", world{ratios: same[:2], machines: 70, runs: 1, machineNoise: 0.03, runNoise: 0.02}, 0.9, 0.04},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := tc.world.simulate("t", 1.08, 200, 300)
			t.Logf("%.1f%% of the intervals of 95%% contain the true ratio; they are %.1f%% wide", 100*e.covered, 100*e.width)
			if e.covered < tc.least || e.width > tc.widest {
				t.Errorf("%.3f with a width of %.3f, want at least %.2f and at most %.2f", e.covered, e.width, tc.least, tc.widest)
			}
		})
	}
}
