package ratios_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// relative returns a layer of the source "benchmark" that leaves memory performances to
// other layers.
func relative(to string, cpu map[string]float64) *ratios.Layer {
	l := layer("benchmark", "", cpu)
	l.RelativeTo = to
	for name, r := range l.Ratios {
		r.MemoryPerf = 0
		l.Ratios[name] = r
	}
	return l
}

// of returns a layer of cpu and memory performances.
func of(source string, perf map[string][2]float64) *ratios.Layer {
	l := &ratios.Layer{Ratios: map[string]ratios.Ratio{}}
	for name, p := range perf {
		l.Ratios[name] = ratios.Ratio{CPUPerf: p[0], MemoryPerf: p[1], Provenance: ratios.Provenance{Source: source}}
	}
	return l
}

func TestRelative(t *testing.T) {
	t.Run("relative ratios are multiples of ratios in other layers", relativeRatiosAreMultiplesOfRatiosInOtherLayers)
	t.Run("only ratios count in a relative layer", onlyRatiosCountInARelativeLayer)
	t.Run("a rule with another baseline is compared with relative ratios", aRuleWithAnotherBaselineIsComparedWithRelativeRatios)
	t.Run("the revision follows the resolved values of relative ratios", theRevisionFollowsTheResolvedValuesOfRelativeRatios)
	t.Run("looks up relative ratios without one source", looksUpRelativeRatiosWithoutOneSource)
	t.Run("resolves relative ratios in what-if tables", resolvesRelativeRatiosInWhatIfTables)
	t.Run("no value is unchanged when the layer is relative to another node type", noValueIsUnchangedWhenTheLayerIsRelativeToAnotherNodeType)
}

func relativeRatiosAreMultiplesOfRatiosInOtherLayers(t *testing.T) {
	config := func() *ratios.Layer {
		l := of("configmap", map[string][2]float64{"n2d": {1.25, 1.5}, "n4": {1.6, 1.2}})
		l.Baseline = "n2d"
		return l
	}
	memory := relative("n2d", map[string]float64{"n4": 1.08})
	memory.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.08, MemoryPerf: 2, Provenance: ratios.Provenance{Source: "benchmark"}}
	for _, tc := range []struct {
		name   string
		layers []*ratios.Layer
		want   map[string][]string // Sources and performances, the effective ratio first.
	}{
		{"it is effective if its layer is first; memory comes from the next layer",
			[]*ratios.Layer{relative("n2d", map[string]float64{"n4": 1.08}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"benchmark 1.35 1.2", "configmap 1.6 1.2"}}},
		{"it is a candidate if its layer is last; memory that no later layer has comes from the baseline",
			[]*ratios.Layer{config(), relative("n2d", map[string]float64{"n4": 1.08, "c3": 0.8})},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2", "benchmark 1.35 1.5"}, "c3": {"benchmark 1 1.5"}}},
		{"memory that it sets is a multiple, too",
			[]*ratios.Layer{memory, config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"benchmark 1.35 3", "configmap 1.6 1.2"}}},
		{"the multiplicand comes from the first layer that names the node type",
			[]*ratios.Layer{of("override", map[string][2]float64{"n2d": {2, 1}}), relative("n2d", map[string]float64{"n4": 1.08}), config()},
			map[string][]string{"n2d": {"override 2 1", "configmap 1.25 1.5"}, "n4": {"benchmark 2.16 1.2", "configmap 1.6 1.2"}}},
		{"the multiplicand may come from a later layer",
			[]*ratios.Layer{relative("n2d", map[string]float64{"n4": 1.08}), of("file", map[string][2]float64{"n2d": {2, 1}}), config()},
			map[string][]string{"n2d": {"file 2 1", "configmap 1.25 1.5"}, "n4": {"benchmark 2.16 1.2", "configmap 1.6 1.2"}}},
		{"it is ignored while no layer names the multiplicand",
			[]*ratios.Layer{relative("t2d", map[string]float64{"n4": 1.08, "t2d": 1}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2"}}},
		{"it is ignored while only another relative layer names the multiplicand",
			[]*ratios.Layer{relative("t2d", map[string]float64{"n4": 1.08}), relative("n2d", map[string]float64{"t2d": 1.4}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2"}, "t2d": {"benchmark 1.75 1.5"}}},
		{"its ratio of the multiplicand is ignored",
			[]*ratios.Layer{relative("n2d", map[string]float64{"n2d": 3, "n4": 1.08}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"benchmark 1.35 1.2", "configmap 1.6 1.2"}}},
		{"its ratio of a changed baseline is ignored",
			[]*ratios.Layer{relative("n4", map[string]float64{"n2d": 3, "c3": 0.5}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2"}, "c3": {"benchmark 0.8 1.2"}}},
		{"the memory of a CPU model comes from its node type",
			[]*ratios.Layer{relative("n2d", map[string]float64{"n4@X": 1.2, "c3@X": 0.8}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2"}, "n4@X": {"benchmark 1.5 1.2"}, "c3@X": {"benchmark 1 1.5"}}},
		{"a CPU model does not bypass an earlier layer that names the node type",
			[]*ratios.Layer{of("override", map[string][2]float64{"n4": {2, 1}}), relative("n2d", map[string]float64{"n4@X": 1.2, "c3@X": 0.8}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"override 2 1", "configmap 1.6 1.2"}, "c3@X": {"benchmark 1 1.5"}}},
		{"a performance that is not valid is ignored",
			[]*ratios.Layer{relative("n2d", map[string]float64{"n4": math.MaxFloat64, "c3": 0, "t2d": math.NaN()}), config()},
			map[string][]string{"n2d": {"configmap 1.25 1.5"}, "n4": {"configmap 1.6 1.2"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, got := merge(t, tc.layers...), map[string][]string{}
			for _, name := range table.NodeTypes() {
				entry, _ := table.Lookup(name)
				if entry.Ratio != entry.Candidates[0] {
					t.Errorf("%s: the effective ratio is %+v, the candidates are %+v", name, entry.Ratio, entry.Candidates)
				}
				for _, c := range entry.Candidates {
					got[name] = append(got[name], fmt.Sprint(c.Provenance.Source, " ", c.CPUPerf, " ", c.MemoryPerf))
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func onlyRatiosCountInARelativeLayer(t *testing.T) {
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})
	measured := relative("n2d", map[string]float64{"n4": 1.08})
	measured.Baseline, measured.Settings, measured.Rules = "n4", keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 7}}}), []ratios.Rule{{Name: "rule"}}
	table := merge(t, measured, config)
	if table.Baseline != "n2d" || table.Bounds != (policy.Bounds{}) || len(table.Profiles()) != 1 {
		t.Errorf("%+v with %d profiles", table, len(table.Profiles()))
	}
	if _, err := ratios.Merge([]*ratios.Layer{measured}); err == nil {
		t.Error("a single relative layer must not make a table")
	}
	if config.Ratios["n4"].CPUPerf != 1.25 || measured.Ratios["n4"].CPUPerf != 1.08 {
		t.Error("a reported layer changed")
	}
}

func aRuleWithAnotherBaselineIsComparedWithRelativeRatios(t *testing.T) {
	measured := relative("n2d", map[string]float64{"n4": 1.08, "t2d": 1.46})
	table := merge(t, measured, withRules(
		ratios.Rule{Name: "baseline", Match: policy.Criteria{ComputeClass: "a"}, Baseline: "n4"},
		ratios.Rule{Name: "ratio", Match: policy.Criteria{ComputeClass: "b"}, Ratios: map[string]ratios.Ratio{"n4": ratio(1.3, 1)}},
	))
	for class, want := range map[string]map[string]sizing.Factor{
		"":  {"n2d": {Num: 1, Den: 1}, "n4": {Num: 25, Den: 27}, "t2d": {Num: 50, Den: 73}},
		"a": {"n2d": {Num: 27, Den: 25}, "n4": {Num: 1, Den: 1}, "t2d": {Num: 54, Den: 73}},
		"b": {"n2d": {Num: 1, Den: 1}, "n4": {Num: 10, Den: 13}, "t2d": {Num: 50, Den: 73}},
	} {
		p := table.Profile(ratiotest.Subject{Class: class})
		for name, factor := range want {
			if entry, ok := p.Lookup(name); !ok || entry.CPUFactor != factor {
				t.Errorf("class %q, %s: %+v, want %v", class, name, entry, factor)
			}
		}
	}
}

func theRevisionFollowsTheResolvedValuesOfRelativeRatios(t *testing.T) {
	absolute := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.08})
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})
	doubled := layer("configmap", "n2d", map[string]float64{"n2d": 2, "n4": 1.25})
	measured := relative("n2d", map[string]float64{"n4": 1.08})
	if a, b := merge(t, measured, config).Revision, merge(t, absolute).Revision; a != b {
		t.Errorf("revisions %s and %s of equal sizes", a, b)
	}
	if a, b := merge(t, measured, config).Revision, merge(t, measured, doubled).Revision; a == b {
		t.Error("the revision did not change when the baseline's unit changed")
	}
}

func looksUpRelativeRatiosWithoutOneSource(t *testing.T) {
	s := run(t,
		ratiotest.NewMemory("override", ratios.Update{Layer: of("override", map[string][2]float64{"n2d": {2, 1}, "n4": {3, 7}})}),
		ratiotest.NewMemory("benchmark", ratios.Update{Layer: relative("n2d", map[string]float64{"n4": 1.08, "c3": 0.5})}),
		ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})}),
	)
	await(t, s, s.Watch(), ready(s))
	for _, tc := range []struct {
		name, without, nodeType string
		cpu, memory             float64 // 0 means that nothing is found.
	}{
		{"the multiplicand is also looked up without the source", "override", "n4", 1.08, 1},
		{"removing another source leaves it unchanged", "configmap", "c3", 1, 1},
		{"without its own source", "benchmark", "c3", 0, 0},
		{"the source before it takes precedence", "configmap", "n4", 3, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := s.LookupWithout(tc.without, tc.nodeType); got.CPUPerf != tc.cpu || got.MemoryPerf != tc.memory || ok != (tc.cpu != 0) {
				t.Errorf("got %+v, %v", got, ok)
			}
		})
	}
	alone := run(t, ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1})}),
		ratiotest.NewMemory("benchmark", ratios.Update{Layer: relative("n2d", map[string]float64{"n4": 1.08})}))
	await(t, alone, alone.Watch(), ready(alone))
	if got, ok := alone.LookupWithout("configmap", "n4"); ok {
		t.Errorf("without the multiplicand, the lookup returned %+v", got)
	}
}

func resolvesRelativeRatiosInWhatIfTables(t *testing.T) {
	s := run(t,
		ratiotest.NewMemory("benchmark", ratios.Update{Layer: relative("n2d", map[string]float64{"n4": 1.08})}),
		ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25})}),
	)
	await(t, s, s.Watch(), ready(s))
	for _, tc := range []struct {
		name, source string
		layer        *ratios.Layer
		want         float64
	}{
		{"a different relative ratio", "benchmark", relative("n2d", map[string]float64{"n4": 1.2}), 1.2},
		{"no relative ratio", "benchmark", nil, 1.25},
		{"the baseline in another unit", "", layer("", "", map[string]float64{"n2d": 2}), 2.16},
		{"a source before all others", "", layer("", "", map[string]float64{"n4": 4}), 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, err := s.WhatIf(ratios.Assumed{Source: tc.source, Layer: tc.layer})
			if err != nil {
				t.Fatal(err)
			}
			if entry, _ := table.Lookup("n4"); entry.Ratio.CPUPerf != tc.want {
				t.Errorf("n4 has %+v, want %v", entry.Ratio, tc.want)
			}
		})
	}
}

func noValueIsUnchangedWhenTheLayerIsRelativeToAnotherNodeType(t *testing.T) {
	before := relative("n2d", map[string]float64{"n4": 1.08})
	for to, want := range map[string]string{"n2d": "benchmark", "c3": "new"} {
		now := layer("new", "", map[string]float64{"n4": 1.08})
		now.RelativeTo = to
		now.Ratios["n4"] = ratios.Ratio{CPUPerf: 1.08, Provenance: ratios.Provenance{Source: "new"}}
		if now.KeepProvenance(before); now.Ratios["n4"].Provenance.Source != want {
			t.Errorf("relative to %s: %+v, want source %s", to, now.Ratios["n4"], want)
		}
	}
}
