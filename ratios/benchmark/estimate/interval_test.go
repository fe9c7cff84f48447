package estimate

import (
	"math/rand/v2"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestInterval(t *testing.T) {
	t.Run("resamples few scores as often as configured and many less often", resamplesFewScoresAsOftenAsConfiguredAndManyLessOften)
	t.Run("follows the confidence and the number of resamples", followsTheConfidenceAndTheNumberOfResamples)
	t.Run("a benchmark that is only shown does not move an interval", aBenchmarkThatIsOnlyShownDoesNotMoveAnInterval)
}

func resamplesFewScoresAsOftenAsConfiguredAndManyLessOften(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		resamples, scores, want int
	}{
		{"none", 1000, 0, 1000},
		{"few", 1000, 1, 1000},
		{"the most scores that are fully resampled", 1000, 64, 1000},
		{"twice as many scores, half as often", 1000, 128, 500},
		{"never fewer times than the ends need", 1000, 100_000, 200},
		{"never more often than configured", 100, 100_000, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (&Settings{Resamples: tc.resamples}).resamples(tc.scores); got != tc.want {
				t.Errorf("%d times, want %d", got, tc.want)
			}
		})
	}
}

// noisy returns samples of two types with noise per machine and per run.
func noisy() []sample.Sample {
	return world{ratios: []float64{1.2, 1.2}, machines: 6, runs: 3, machineNoise: 0.03, runNoise: 0.02}.draw(rand.New(rand.NewPCG(1, 2)))
}

func followsTheConfidenceAndTheNumberOfResamples(t *testing.T) {
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
		{"no resamples", 0, 0.95, func(e Estimate) bool { return e.Low == e.Ratio && e.Ratio == e.High }},
		{"one resample determines one end", 1, 0.95, func(e Estimate) bool { return e.Low < e.High && (e.Low == e.Ratio || e.Ratio == e.High) }},
		{"more confidence is wider", 1000, 0.99, func(e Estimate) bool { return e.Low < usual.Low && usual.High < e.High }},
		{"less confidence is narrower", 1000, 0.5, func(e Estimate) bool { return usual.Low < e.Low && e.High < usual.High }},
		{"no confidence still contains the ratio", 1000, 0, func(e Estimate) bool { return usual.Low < e.Low && e.High < usual.High }},
		{"negative confidence counts as none", 1000, -5, func(e Estimate) bool { none := of(1000, 0); return e.Low == none.Low && e.High == none.High }},
		{"negative confidence of one resample, too", 1, -5, func(e Estimate) bool { one := of(1, 0); return e.Low == one.Low && e.High == one.High }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if e := of(tc.resamples, tc.confidence); e.Low > e.Ratio || e.Ratio > e.High || !tc.is(e) {
				t.Errorf("%v in [%v, %v], usually in [%v, %v]", e.Ratio, e.Low, e.High, usual.Low, usual.High)
			}
		})
	}
}

func aBenchmarkThatIsOnlyShownDoesNotMoveAnInterval(t *testing.T) {
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
