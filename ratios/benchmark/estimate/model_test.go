package estimate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// group has machines of a node type with the same CPU model and the same score in
// some benchmarks.
type group struct {
	nodeType, model string
	machines        int
	score           float64
	benchmarks      string
}

func (g group) samples() []sample.Sample {
	var samples []sample.Sample
	for _, benchmark := range strings.Fields(g.benchmarks) {
		for _, x := range (batch{nodeType: g.nodeType, benchmark: benchmark, score: g.score}.of(g.machines)) {
			x.CPUModel = g.model
			x.Machine += g.model
			samples = append(samples, x)
		}
	}
	return samples
}

func TestModels(t *testing.T) {
	base := group{"n2d", "", 3, 100, "a b"}
	for _, tc := range []struct {
		name     string
		groups   []group
		baseline string
		// want are the ratios of all estimates; codes are the doubts of "e2".
		want  map[string]float64
		codes []Code
	}{
		{"a single model is the type", []group{base, {"e2", "X", 3, 120, "a b"}}, "n2d",
			map[string]float64{"e2": 1.2}, nil},
		{"several models are shown separately and pooled", []group{base, {"e2", "X", 3, 100, "a b"}, {"e2", "Y", 3, 106, "a b"}}, "n2d",
			map[string]float64{"e2": 1.029563014, "e2@X": 1, "e2@Y": 1.06}, nil},
		{"models that differ hold the type back", []group{base, {"e2", "X", 3, 100, "a b"}, {"e2", "Y", 3, 112, "a b"}}, "n2d",
			map[string]float64{"e2": 1.058300524, "e2@X": 1, "e2@Y": 1.12}, []Code{ModelsDiffer}},
		{"a model of one machine of many raises no doubt, and is shown", []group{base, {"e2", "X", 5, 100, "a b"}, {"e2", "Y", 1, 112, "a b"}}, "n2d",
			map[string]float64{"e2": 1, "e2@X": 1, "e2@Y": 1.12}, nil},
		{"a model of a third of the machines raises doubt", []group{base, {"e2", "X", 2, 100, "a b"}, {"e2", "Y", 1, 112, "a b"}}, "n2d",
			map[string]float64{"e2": math.Pow(1.12, 1.0/3), "e2@X": 1, "e2@Y": 1.12}, []Code{ModelsDiffer}},
		{"a model of as many machines as a ratio needs raises doubt", []group{base, {"e2", "X", 9, 100, "a b"}, {"e2", "Y", 2, 112, "a b"}}, "n2d",
			map[string]float64{"e2": math.Pow(1.12, 2.0/11), "e2@X": 1, "e2@Y": 1.12}, []Code{ModelsDiffer}},
		{"a model that raises no doubt does not hide two that do", []group{base, {"e2", "W", 1, 100, "a b"}, {"e2", "X", 5, 100, "a b"}, {"e2", "Y", 5, 112, "a b"}}, "n2d",
			map[string]float64{"e2": math.Pow(1.12, 5.0/11), "e2@W": 1, "e2@X": 1, "e2@Y": 1.12}, []Code{ModelsDiffer}},
		{"a model that cannot be compared does not hide two that differ", []group{base, {"e2", "X", 3, 100, "c"}, {"e2", "Y", 3, 100, "a b"}, {"e2", "Z", 3, 112, "a b"}}, "n2d",
			map[string]float64{"e2": 1.058300524, "e2@X": 0, "e2@Y": 1, "e2@Z": 1.12}, []Code{ModelsDiffer}},
		{"a model of one machine of the baseline raises no doubt", []group{{"n2d", "P", 5, 100, "a b"}, {"n2d", "Q", 1, 150, "a b"}, {"e2", "X", 3, 110, "a b"}}, "n2d",
			map[string]float64{"e2": 1.1, "n2d@P": 1, "n2d@Q": 1.5}, nil},
		{"an unknown model counts for the type alone", []group{base, {"e2", "", 4, 150, "a b"}, {"e2", "X", 3, 100, "a b"}}, "n2d",
			map[string]float64{"e2": math.Pow(1.5, 4.0/7)}, nil},
		{"models are not compared by different benchmarks", []group{base, {"e2", "X", 3, 100, "a"}, {"e2", "Y", 3, 115, "b"}}, "n2d",
			map[string]float64{"e2": 1.072380529, "e2@X": 1, "e2@Y": 1.15}, nil},
		{"models are not compared by benchmarks that are only shown", []group{base, {"e2", "X", 3, 100, "a b"}, {"e2", "Y", 3, 100, "a b"},
			{"e2", "X", 3, 100, "bench-node:memory-copy"}, {"e2", "Y", 3, 200, "bench-node:memory-copy"}}, "n2d",
			map[string]float64{"e2": 1, "e2@X": 1, "e2@Y": 1}, nil},
		{"models of the baseline that differ hold all types back", []group{{"n2d", "P", 3, 100, "a b"}, {"n2d", "Q", 3, 120, "a b"}, {"e2", "X", 3, 110, "a b"}}, "n2d",
			map[string]float64{"e2": 110 / math.Sqrt(12000), "n2d@P": 0.912870929, "n2d@Q": 1.095445115}, []Code{BaselineDiffers}},
		{"a baseline of one model does not differ", []group{{"n2d", "P", 3, 100, "a b"}, {"n2d", "Q", 3, 120, "a b"}, {"e2", "X", 3, 110, "a b"}}, "n2d@P",
			map[string]float64{"e2": 1.1, "n2d": 1.095445115, "n2d@Q": 1.2}, nil},
		{"a baseline of a model that was not measured compares with nothing", []group{{"n2d", "Q", 3, 120, "a b"}, {"e2", "X", 3, 110, "a b"}}, "n2d@P",
			map[string]float64{"e2": 0, "n2d": 0}, []Code{TooFewBenchmarks}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for _, g := range tc.groups {
				samples = append(samples, g.samples()...)
			}
			got := estimates(samples, tc.baseline, lenient())
			if names, want := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(tc.want)); !slices.Equal(names, want) {
				t.Errorf("estimates of %v, want %v", names, want)
			}
			for name, want := range tc.want {
				if !near(got[name].Ratio, want, 1e-9) {
					t.Errorf("%s: ratio %.9f, want %.9f", name, got[name].Ratio, want)
				}
			}
			var codes []Code
			for _, h := range got["e2"].Doubts {
				codes = append(codes, h.Code)
			}
			if !slices.Equal(codes, tc.codes) {
				t.Errorf("doubts %q, want %v", got["e2"].Doubts, tc.codes)
			}
		})
	}
}

func TestModel(t *testing.T) {
	t.Run("names models that differ with their ratios", namesModelsThatDifferWithTheirRatios)
	t.Run("names the first of models that differ equally", namesTheFirstOfModelsThatDifferEqually)
	t.Run("a third of the machines raises doubt regardless of the minimum", aThirdOfTheMachinesRaisesDoubtRegardlessOfTheMinimum)
	t.Run("evaluates only the models with the most machines", evaluatesOnlyTheModelsWithTheMostMachines)
	t.Run("combines models whose names are too long to distinguish", combinesModelsWhoseNamesAreTooLongToDistinguish)
}

func namesModelsThatDifferWithTheirRatios(t *testing.T) {
	var samples []sample.Sample
	for _, g := range []group{{"n2d", "", 3, 100, "a b"}, {"e2", "Y", 3, 112, "a b c"}, {"e2", "Z", 3, 50, "c"}} {
		samples = append(samples, g.samples()...)
	}
	e := estimates(samples, "n2d", lenient())["e2"]
	want := Doubt{ModelsDiffer, "CPU models of e2 differ: Y is 2.24 times as fast as Z (ratios 1.12 and unknown), at most 1.10 is allowed"}
	if len(e.Doubts) != 1 || e.Doubts[0] != want {
		t.Errorf("doubts %q, want %q", e.Doubts, want)
	}
	if want := []Model{{"Y", 1.12, 3}, {"Z", 0, 3}}; len(e.Models) != 2 || e.Models[1] != want[1] || !near(e.Models[0].Ratio, 1.12, 1e-9) {
		t.Errorf("models %+v, want %+v", e.Models, want)
	}
}

func namesTheFirstOfModelsThatDifferEqually(t *testing.T) {
	for _, tc := range []struct {
		name    string
		x, y, z float64
		want    string
	}{
		{"two are faster", 100, 112, 112, "Y is 1.12 times as fast as X"},
		{"two are slower", 112, 100, 100, "X is 1.12 times as fast as Y"},
		{"the last differs more", 100, 112, 120, "Z is 1.20 times as fast as X"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for _, g := range []group{{"n2d", "", 3, 100, "a b"}, {"e2", "X", 3, tc.x, "a b"}, {"e2", "Y", 3, tc.y, "a b"}, {"e2", "Z", 3, tc.z, "a b"}} {
				samples = append(samples, g.samples()...)
			}
			if doubts := estimates(samples, "n2d", lenient())["e2"].Doubts; len(doubts) != 1 || !strings.Contains(doubts[0].Message, tc.want) {
				t.Errorf("doubts %q, want %q", doubts, tc.want)
			}
		})
	}
}

func aThirdOfTheMachinesRaisesDoubtRegardlessOfTheMinimum(t *testing.T) {
	s := lenient()
	s.MinMachines = 4
	for machines, want := range map[int]bool{2: true, 1: false} {
		var samples []sample.Sample
		for _, g := range []group{{"n2d", "", 6, 100, "a b"}, {"e2", "X", 6 - machines, 100, "a b"}, {"e2", "Y", machines, 112, "a b"}} {
			samples = append(samples, g.samples()...)
		}
		if e := estimates(samples, "n2d", s)["e2"]; held(e, ModelsDiffer) != want {
			t.Errorf("%d of 6: doubts %q", machines, e.Doubts)
		}
	}
}

func evaluatesOnlyTheModelsWithTheMostMachines(t *testing.T) {
	groups := []group{{"n2d", "", 3, 100, "a b"}, {"e2", "Z", 3, 90, "a b"}}
	for i := range 3 * mostModels {
		groups = append(groups, group{"e2", fmt.Sprintf("made-up-%03d", i), 1, 120, "a b"})
	}
	var samples []sample.Sample
	for _, g := range groups {
		samples = append(samples, g.samples()...)
	}
	const last = "e2@made-up-095"
	for _, tc := range []struct {
		name, baseline, extra string
		ratio                 float64
	}{
		{"by name among equal numbers", "n2d", "e2@made-up-030", 1.2},
		{"the baseline is always included", last, "n2d", 1 / 1.2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := estimates(samples, tc.baseline, lenient())
			models := got["e2"].Models
			if len(models) != mostModels || models[0].CPUModel != "Z" || models[1].CPUModel != "made-up-000" {
				t.Errorf("%d models: %+v", len(models), models)
			}
			if e := got["e2"]; e.Machines != 3+3*mostModels || !near(got[tc.extra].Ratio, tc.ratio, 1e-9) {
				t.Errorf("%d machines; %s: %v", e.Machines, tc.extra, got[tc.extra].Ratio)
			}
			if _, ok := got[last]; ok {
				t.Errorf("there is an estimate of %s", last)
			}
		})
	}
}

func combinesModelsWhoseNamesAreTooLongToDistinguish(t *testing.T) {
	long := strings.Repeat("x", 60)
	var samples []sample.Sample
	for _, g := range []group{{"n2d", "", 3, 100, "a b"}, {"e2", long + "1", 3, 90, "a b"}, {"e2", long + "2", 3, 110, "a b"}} {
		samples = append(samples, g.samples()...)
	}
	all := Estimates(Aggregates(samples, now, lenient()), "n2d", Cluster{}, lenient())
	if len(all) != 1 || !near(all[0].Ratio, math.Sqrt(0.99), 1e-9) || len(all[0].Models) != 1 || all[0].Models[0].Machines != 6 {
		t.Errorf("%+v, want one model with 6 machines and the ratio 0.995", all)
	}
}
