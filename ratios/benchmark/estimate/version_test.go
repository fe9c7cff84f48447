package estimate

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestVersion(t *testing.T) {
	t.Run("compares one version of a benchmark", comparesOneVersionOfABenchmark)
}

func comparesOneVersionOfABenchmark(t *testing.T) {
	// version has the samples of a version: the numbers of machines, and the score of
	// the type; the score of the baseline is 100.
	type version struct {
		version        string
		of, base       int
		score          float64
		age            time.Duration
		runsPerMachine int
	}
	for _, tc := range []struct {
		name     string
		versions []version
		want     string
		ratio    float64
	}{
		{"versions are never compared with each other",
			[]version{{version: "1", of: 3, score: 110}, {version: "2", base: 3}}, "", 0},
		{"the version that both have", []version{{version: "1", of: 9, score: 110}, {version: "2", of: 3, base: 3, score: 120}}, "2", 1.2},
		{"the version with the most samples on the side with fewer",
			[]version{{version: "1", of: 9, base: 3, score: 110}, {version: "2", of: 4, base: 4, score: 120}}, "2", 1.2},
		{"the newer version with equal numbers of samples",
			[]version{{version: "1", of: 3, base: 3, score: 110}, {version: "2", of: 3, base: 3, score: 120, age: time.Hour}}, "1", 1.1},
		{"the later name with equal numbers and times",
			[]version{{version: "1", of: 3, base: 3, score: 110}, {version: "2", of: 3, base: 3, score: 120}}, "2", 1.2},
		{"a version with enough machines, regardless of samples",
			[]version{{version: "1", of: 1, base: 1, score: 110, runsPerMachine: 140}, {version: "2", of: 3, base: 3, score: 120}}, "2", 1.2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			add := func(nodeType string, machines int, score float64, v version) {
				for _, x := range (batch{nodeType: nodeType, benchmark: "a", score: score}.of(machines)) {
					x.Version, x.Time, x.Runs = v.version, now.Add(-v.age), v.runsPerMachine
					samples = append(samples, x)
				}
			}
			for _, v := range tc.versions {
				add("n4", v.of, v.score, v)
				add("n2d", v.base, 100, v)
			}
			e := estimates(samples, "n2d", lenient())["n4"]
			if tc.want == "" {
				if len(e.Parts) != 0 || e.Ratio != 0 {
					t.Errorf("ratio %v from %+v, want none", e.Ratio, e.Parts)
				}
				return
			}
			if len(e.Parts) != 1 || e.Parts[0].Version != tc.want || !near(e.Ratio, tc.ratio, 1e-9) {
				t.Errorf("ratio %v from %+v, want %v of version %s", e.Ratio, e.Parts, tc.ratio, tc.want)
			}
		})
	}
}

// of returns samples of the batch, one per machine.
func (b batch) of(machines int) []sample.Sample {
	for range machines {
		b.perMachine = append(b.perMachine, 1)
	}
	return b.samples()
}
