package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestInterval(t *testing.T) {
	t.Run("few scores are resampled as often as is said and many less often", fewScoresAreResampledAsOftenAsIsSaidAndManyLessOften)
	t.Run("how confident an interval is", howConfidentAnIntervalIs)
	t.Run("what is only shown does not move an interval", whatIsOnlyShownDoesNotMoveAnInterval)
}

func fewScoresAreResampledAsOftenAsIsSaidAndManyLessOften(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		resamples, scores, want int
	}{
		{"none", 1000, 0, 1000},
		{"few", 1000, 1, 1000},
		{"the most that are few", 1000, 64, 1000},
		{"twice as many, half as often", 1000, 128, 500},
		{"never less often than tells the ends", 1000, 100_000, 200},
		{"nor more often than is said", 100, 100_000, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (&Settings{Resamples: tc.resamples}).resamples(tc.scores); got != tc.want {
				t.Errorf("%d times, want %d", got, tc.want)
			}
		})
	}
}

// noisy are samples of two types that differ by machine and by run.
func noisy() []sample.Sample {
	return world{ratios: []float64{1.2, 1.2}, machines: 6, runs: 3, machineNoise: 0.03, runNoise: 0.02}.draw(rand.New(rand.NewPCG(1, 2)))
}

func howConfidentAnIntervalIs(t *testing.T) {
	of := func(resamples int, confidence float64) Estimate {
		s := Defaults()
		s.Resamples, s.Confidence = resamples, confidence
		return estimates(noisy(), "base", s)["t"]
	}
	usual := of(1000, 0.95)
	for _, tc := range []struct {
		name       string
		resamples  int
		confidence float64
		is         func(e Estimate) bool
	}{
		{"nothing is resampled", 0, 0.95, func(e Estimate) bool { return e.Low == e.Ratio && e.Ratio == e.High }},
		{"one resample is an end", 1, 0.95, func(e Estimate) bool { return e.Low < e.High && (e.Low == e.Ratio || e.Ratio == e.High) }},
		{"more confidence is wider", 1000, 0.99, func(e Estimate) bool { return e.Low < usual.Low && usual.High < e.High }},
		{"less is narrower", 1000, 0.5, func(e Estimate) bool { return usual.Low < e.Low && e.High < usual.High }},
		{"none at all still has the ratio in it", 1000, 0, func(e Estimate) bool { return usual.Low < e.Low && e.High < usual.High }},
		{"less than none is none", 1000, -5, func(e Estimate) bool { none := of(1000, 0); return e.Low == none.Low && e.High == none.High }},
		{"of one resample, too", 1, -5, func(e Estimate) bool { one := of(1, 0); return e.Low == one.Low && e.High == one.High }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if e := of(tc.resamples, tc.confidence); e.Low > e.Ratio || e.Ratio > e.High || !tc.is(e) {
				t.Errorf("%v in [%v, %v], usually in [%v, %v]", e.Ratio, e.Low, e.High, usual.Low, usual.High)
			}
		})
	}
}

func whatIsOnlyShownDoesNotMoveAnInterval(t *testing.T) {
	samples := noisy()
	before := estimates(samples, "base", Defaults())["t"]
	for _, x := range noisy() {
		x.Benchmark = "bench-node:memory-" + x.Benchmark
		samples = append(samples, x)
	}
	after := estimates(samples, "base", Defaults())["t"]
	if len(after.Parts) != 4 || after.Low != before.Low || after.High != before.High {
		t.Errorf("[%v, %v] with %d parts, before [%v, %v]", after.Low, after.High, len(after.Parts), before.Low, before.High)
	}
}
