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
						ID: fmt.Sprint(len(samples)), NodeType: nodeType, CPUModel: model, Benchmark: fmt.Sprintf("bench-node:b%02d", b),
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

// seeded returns a source of random numbers.
func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// simulate estimates the ratio of a name many times.
func (w world) simulate(name string, truth float64, times int) accuracy {
	s := lenient()
	result := accuracy{doubts: make(map[Code]float64)}
	var all, widths []float64
	for i := range times {
		e := estimates(w.draw(seeded(uint64(i))), "base", s)[name]
		all = append(all, math.Abs(e.Ratio/truth-1))
		widths = append(widths, (high(&e)-low(&e))/truth)
		if low(&e) <= truth && truth <= high(&e) {
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
			e := tc.world.simulate(tc.of, tc.truth, 100)
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
		{"a CPU that is 1.2 times as fast", world{ratios: same, machines: 10, runs: 3, runNoise: 0.02, otherModel: 0.2, otherSpeed: 1.2}, ModelsDiffer, 1, 1},
		{"a CPU that is equally fast", world{ratios: same, machines: 10, runs: 3, machineNoise: 0.02, runNoise: 0.02, otherModel: 0.2, otherSpeed: 1}, ModelsDiffer, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.world.simulate("t", 1.08, 50).doubts[tc.code]; got < tc.least || got > tc.most {
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
	if e := w.simulate("t", 1.08, 50); e.p95 > 0.02 {
		t.Errorf("with 2 of 10 machines: error %.4f, want at most 0.02, as of the others", e.p95)
	}
	w.otherModel = 0.5
	for seed := range uint64(20) {
		if e := estimates(w.draw(seeded(seed)), "base", Defaults())["t"]; !held(e, IntervalTooWide) {
			t.Errorf("with 5 of 10 machines: interval %v", e.Interval)
		}
	}
}
