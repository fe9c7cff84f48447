package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// anything returns samples of all kinds: types, models, versions, spot checks, equal
// scores and equal times.
func anything(random *rand.Rand) []sample.Sample {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var samples []sample.Sample
	for i := range 20 + random.IntN(400) {
		x := sample.Sample{
			ID: fmt.Sprint(i), NodeType: pick("a", "b", "c"), CPUModel: pick("", "X", "Y"),
			Benchmark: pick("p", "q", "bench-node:r", "bench-node:s", "bench-node:memory-copy"), Version: pick("", "1", "2"),
			Score: math.Round(50+100*random.Float64()) * factor(random), Unit: pick("", "u", "v"), VCPUs: 8, Threads: 8, ThreadsPerCore: random.IntN(3),
			Runs: random.IntN(3), Machine: pick("1", "2", "3", "4", "5", "6"), Time: now.Add(-time.Duration(random.IntN(5)) * time.Hour),
			SingleThread: float64(random.IntN(3)),
		}
		if random.IntN(10) == 0 {
			x.Spot, x.Threads = true, 1
		}
		samples = append(samples, x)
	}
	return samples
}

// factor is mostly 1.
func factor(random *rand.Rand) float64 { return []float64{1, 1, 1, 1, 1, 1, 0.5, 4}[random.IntN(8)] }

// low and high are the ends of an interval, or the ratio if it is not known.
func low(e *Estimate) float64 {
	if e.Interval == nil {
		return e.Ratio
	}
	return e.Interval.Low
}

func high(e *Estimate) float64 {
	if e.Interval == nil {
		return e.Ratio
	}
	return e.Interval.High
}

func few() Settings {
	s := Defaults()
	return s
}

// each runs a property on many sets of samples.
func each(t *testing.T, property func(*testing.T, *rand.Rand, []sample.Sample)) {
	t.Helper()
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 7))
		property(t, random, anything(random))
		if t.Failed() {
			t.Fatalf("for the samples with seed %d", seed)
		}
	}
}

func TestProperty(t *testing.T) {
	t.Run("the order of samples does not matter", theOrderOfSamplesDoesNotMatter)
	t.Run("the unit of scores does not matter", theUnitOfScoresDoesNotMatter)
	t.Run("swapping type and baseline inverts the ratio", swappingTypeAndBaselineInvertsTheRatio)
	t.Run("intervals contain the ratio", intervalsContainTheRatio)
	t.Run("one more outlier changes little", oneMoreOutlierChangesLittle)
}

func theOrderOfSamplesDoesNotMatter(t *testing.T) {
	each(t, func(t *testing.T, random *rand.Rand, samples []sample.Sample) {
		aggregates := Aggregates(samples, now, few())
		estimates := Estimates(aggregates, "a", Cluster{}, few())
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		again := Aggregates(samples, now, few())
		if !reflect.DeepEqual(aggregates, again) {
			t.Errorf("aggregates differ:\n%+v\n%+v", aggregates, again)
		}
		random.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if again := Estimates(again, "a", Cluster{}, few()); !reflect.DeepEqual(estimates, again) {
			t.Errorf("estimates differ:\n%+v\n%+v", estimates, again)
		}
	})
}

func theUnitOfScoresDoesNotMatter(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, samples []sample.Sample) {
		before := Estimates(Aggregates(samples, now, few()), "a", Cluster{}, few())
		factor := map[string]float64{"p": 1024, "q": 1.0 / 4096, "bench-node:r": 3}
		for i := range samples {
			if f, ok := factor[samples[i].Benchmark]; ok {
				samples[i].Score *= f
				samples[i].SingleThread *= f
			}
		}
		after := Estimates(Aggregates(samples, now, few()), "a", Cluster{}, few())
		for i, e := range before {
			if !near(after[i].Ratio, e.Ratio, 1e-9) || e.Ratio > 0 && (!near(low(&after[i])/low(&e), 1, 1e-9) || !near(high(&after[i])/high(&e), 1, 1e-9)) {
				t.Errorf("%s: %v [%v, %v], then %v [%v, %v]", e.NodeType,
					e.Ratio, low(&e), high(&e), after[i].Ratio, low(&after[i]), high(&after[i]))
			}
		}
	})
}

func swappingTypeAndBaselineInvertsTheRatio(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, samples []sample.Sample) {
		aggregates := Aggregates(samples, now, few())
		there, back := Estimates(aggregates, "a", Cluster{}, few()), Estimates(aggregates, "b", Cluster{}, few())
		of := func(estimates []Estimate, nodeType string) Estimate {
			return estimates[slices.IndexFunc(estimates, func(e Estimate) bool { return e.NodeType == nodeType })]
		}
		if b, a := of(there, "b").Ratio, of(back, "a").Ratio; !near(a*b, 1, 1e-9) {
			t.Errorf("%v × %v = %v", a, b, a*b)
		}
	})
}

func intervalsContainTheRatio(t *testing.T) {
	wide := 0
	each(t, func(t *testing.T, _ *rand.Rand, samples []sample.Sample) {
		for _, e := range Estimates(Aggregates(samples, now, few()), "a", Cluster{}, few()) {
			if low(&e) > e.Ratio || e.Ratio > high(&e) {
				t.Errorf("%s: %v is not in [%v, %v]", e.NodeType, e.Ratio, low(&e), high(&e))
			}
			if low(&e) < high(&e) {
				wide++
			}
		}
	})
	if wide == 0 {
		t.Error("all intervals are empty")
	}
}

func oneMoreOutlierChangesLittle(t *testing.T) {
	w := world{ratios: same, machines: 5, runs: 2, machineNoise: 0.01, runNoise: 0.01}
	for seed := range uint64(50) {
		samples := w.draw(rand.New(rand.NewPCG(seed, 3)))
		before := estimates(samples, "base", few())["t"].Ratio
		for _, factor := range []float64{1e-6, 0.5, 1.5, 1e6} {
			odd := samples[len(samples)-1]
			odd.ID, odd.Machine, odd.Score = "odd", "odd", odd.Score*factor
			after := estimates(append(slices.Clone(samples), odd), "base", few())["t"].Ratio
			if math.Abs(after/before-1) > 0.005 {
				t.Errorf("seed %d: ratio %.4f, but %.4f with one score × %v", seed, before, after, factor)
			}
		}
	}
}

// FuzzFinite looks for scores that lead to values which cannot be displayed, sorted or
// serialized.
func FuzzFinite(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0)
	f.Add(math.SmallestNonzeroFloat64, math.MaxFloat64, 1.0, math.MaxFloat64)
	f.Add(math.MaxFloat64, math.MaxFloat64, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64)
	f.Add(math.MaxFloat64, math.MaxFloat64/2, 3*math.SmallestNonzeroFloat64, -1.0)
	f.Add(math.NaN(), math.Inf(1), -1.0, 0.0)
	f.Fuzz(func(t *testing.T, a, b, c, d float64) {
		var samples []sample.Sample
		for i, score := range []float64{a, b, c, d, a, b, b, d, c, a, a, a} {
			samples = append(samples, sample.Sample{
				ID: fmt.Sprint(i), NodeType: []string{"a", "b"}[i%2], CPUModel: []string{"", "X", "Y"}[i%3],
				Benchmark: []string{"p", "q"}[i/2%2], Score: score, SingleThread: d, VCPUs: 3, Threads: 3,
				Machine: fmt.Sprint(i % 5), Time: now,
			})
		}
		s := few()
		s.OutliersFrom = 2
		aggregates := Aggregates(samples, now, s)
		for _, x := range aggregates {
			finite(t, x.Median, x.Spread, x.SingleThread, x.SpotMedian)
		}
		for _, e := range Estimates(aggregates, "a", Cluster{}, s) {
			finite(t, e.Ratio, low(&e), high(&e), e.Spread)
			for _, p := range e.Parts {
				finite(t, p.Ratio, p.Weight)
			}
			for _, m := range e.Models {
				finite(t, m.Ratio)
			}
		}
	})
}

func finite(t *testing.T, figures ...float64) {
	t.Helper()
	for _, x := range figures {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			t.Errorf("value %v among %v", x, figures)
		}
	}
}
