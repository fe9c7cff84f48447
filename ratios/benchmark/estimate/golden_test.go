package estimate

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// published returns one result of an instance type with 8 vCPUs.
func published(nodeType, benchmark string, score float64) sample.Sample {
	return sample.Sample{
		ID: nodeType + benchmark, NodeType: nodeType, Benchmark: benchmark, Score: score,
		VCPUs: 8, Threads: 8, Machine: nodeType + "-standard-8/" + benchmark, Source: "published", Time: now,
	}
}

// estimates returns the estimates of samples, by node type.
func estimates(samples []sample.Sample, baseline string, s Settings) map[string]Estimate {
	byType := make(map[string]Estimate)
	for _, e := range Estimates(Aggregates(samples, now, s), baseline, Cluster{}, s) {
		byType[e.NodeType] = e
	}
	return byType
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance }

func TestGolden(t *testing.T) {
	t.Run("computes the ratios of published CoreMark scores", computesTheRatiosOfPublishedCoreMarkScores)
	t.Run("benchmarks that disagree hold the ratio back", benchmarksThatDisagreeHoldTheRatioBack)
	t.Run("benchmarks that agree do not hold the ratio back", benchmarksThatAgreeDoNotHoldTheRatioBack)
	t.Run("distinguishes the CPUs of a family", distinguishesTheCPUsOfAFamily)
}

// The scores are 8 times the scores that a cloud published per vCPU:
//
//	n4  22207 / 20482 = 1.0842
//	c3  20043 / 20482 = 0.9786
//	t2d 29817 / 20482 = 1.4558
func computesTheRatiosOfPublishedCoreMarkScores(t *testing.T) {
	got := estimates([]sample.Sample{
		published("n2d", "coremark", 8*20482), published("n4", "coremark", 8*22207),
		published("c3", "coremark", 8*20043), published("t2d", "coremark", 8*29817),
	}, "n2d", Defaults())
	if len(got) != 3 {
		t.Fatalf("%d estimates, want n4, c3 and t2d", len(got))
	}
	for nodeType, want := range map[string]float64{"n4": 1.0842, "c3": 0.9786, "t2d": 1.4558} {
		e := got[nodeType]
		if !near(e.Ratio, want, 0.00005) || e.Interval != nil || e.Baseline != "n2d" {
			t.Errorf("%s: ratio %.4f to %s in %v, want %.4f to n2d and an unknown interval", nodeType, e.Ratio, e.Baseline, e.Interval, want)
		}
		if !held(e, TooFewBenchmarks) || len(e.Doubts) != 1 {
			t.Errorf("%s: doubts %v, want that one benchmark is not enough", nodeType, e.Doubts)
		}
	}
}

func held(e Estimate, code Code) bool {
	for _, h := range e.Doubts {
		if h.Code == code {
			return true
		}
	}
	return false
}

// thrice returns a sample as three results of different machines.
func thrice(x sample.Sample) []sample.Sample {
	three := []sample.Sample{x, x, x}
	for i, suffix := range []string{"a", "b", "c"} {
		three[i].ID += suffix
		three[i].Machine += suffix
	}
	return three
}

// Four benchmarks of n4, relative to n2d. Their geometric mean is
//
//	(1.08 × 0.97 × 1.26 × 0.64)^(1/4) = 0.844784^(1/4) = 0.9587
//
// and they differ by a factor of 1.26 / 0.64 = 1.97.
func benchmarksThatDisagreeHoldTheRatioBack(t *testing.T) {
	var samples []sample.Sample
	for benchmark, ratio := range map[string]float64{"coremark": 1.08, "passmark": 0.97, "geekbench": 1.26, "division": 0.64} {
		samples = append(samples, thrice(published("n2d", benchmark, 1000))...)
		samples = append(samples, thrice(published("n4", benchmark, 1000*ratio))...)
	}
	e := estimates(samples, "n2d", Defaults())["n4"]
	if !near(e.Ratio, 0.9587, 0.00005) {
		t.Errorf("ratio %.4f, want 0.9587", e.Ratio)
	}
	want := Doubt{IntervalTooWide, "the ratio is between 0.60 and 1.52, and because few benchmarks may agree by chance, only certain to ±184.6%; at most ±10.0% is allowed for published scores; more benchmarks narrow the interval"}
	if len(e.Doubts) != 1 || e.Doubts[0] != want {
		t.Errorf("doubts %v, want %v", e.Doubts, want)
	}
	if len(e.Parts) != 4 || e.Samples != 12 || e.Machines != 12 {
		t.Errorf("%d parts, %d samples, %d machines; want 4, 12, 12", len(e.Parts), e.Samples, e.Machines)
	}
}

// The same four without the one that differs: c3 has 0.98, 1.00 and 1.20. Their
// geometric mean is 1.176^(1/3) = 1.0555.
func benchmarksThatAgreeDoNotHoldTheRatioBack(t *testing.T) {
	var samples []sample.Sample
	for benchmark, ratio := range map[string]float64{"coremark": 0.98, "passmark": 1.00, "geekbench": 1.20, "division": 0.62} {
		samples = append(samples, thrice(published("n2d", benchmark, 1000))...)
		samples = append(samples, thrice(published("c3", benchmark, 1000*ratio))...)
	}
	s := Defaults()
	s.Weights["division"], s.TolerancePublished = 0, 1.5
	e := estimates(samples, "n2d", s)["c3"]
	if !near(e.Ratio, 1.0555, 0.00005) || len(e.Doubts) != 0 {
		t.Errorf("ratio %.4f, doubts %v; want 1.0555 and none", e.Ratio, e.Doubts)
	}
	if len(e.Parts) != 4 || e.Parts[1].Benchmark != "division" || e.Parts[1].Weight != 0 || !near(e.Parts[1].Ratio, 0.62, 1e-9) {
		t.Errorf("parts %+v, want division shown with weight 0", e.Parts)
	}
}

// Two e2-standard-8 scored 1108 and 2683, on different CPUs. Compared to an n2d with
// 2000, these are 0.554 and 1.3415, and 2683 / 1108 = 2.42. The type as a whole is
// between them, √(1108 × 2683) / 2000 = 0.8621, which is meaningless.
func distinguishesTheCPUsOfAFamily(t *testing.T) {
	slow, fast := published("e2", "passmark", 1108), published("e2", "passmark", 2683)
	slow.CPUModel, slow.Machine = "Intel-6-79", "slow"
	fast.CPUModel, fast.Machine = "AMD-25-1", "fast"
	got := estimates([]sample.Sample{published("n2d", "passmark", 2000), slow, fast}, "n2d", Defaults())
	for name, want := range map[string]float64{"e2": math.Sqrt(1108*2683) / 2000, "e2@Intel-6-79": 0.554, "e2@AMD-25-1": 1.3415} {
		if !near(got[name].Ratio, want, 1e-9) {
			t.Errorf("%s: ratio %v, want %v", name, got[name].Ratio, want)
		}
		if held(got[name], ModelsDiffer) != (name == "e2") {
			t.Errorf("%s: doubts %v", name, got[name].Doubts)
		}
	}
	message := "CPU models of e2 differ: AMD-25-1 is 2.43 times as fast as Intel-6-79 (ratios 1.34 and 0.55), at most 1.10 is allowed"
	if doubts := got["e2"].Doubts; len(doubts) == 0 || doubts[len(doubts)-1].Message != message {
		t.Errorf("doubts %v, want %q", doubts, message)
	}
	models := got["e2"].Models
	if len(models) != 2 || models[0].CPUModel != "AMD-25-1" || !near(models[0].Ratio, 1.3415, 1e-9) || models[0].Machines != 1 {
		t.Errorf("models %+v", models)
	}
}
