package ratios_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func merge(t testing.TB, layers ...*ratios.Layer) *ratios.Table {
	t.Helper()
	table, err := ratios.Merge(layers)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// withRules returns a layer with three node types and these rules.
func withRules(rules ...ratios.Rule) *ratios.Layer {
	l := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25, "c3": 1.3})
	l.Settings = keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20}}})
	l.Rules = rules
	return l
}

func ratio(cpu, memory float64) ratios.Ratio {
	return ratios.Ratio{CPUPerf: cpu, MemoryPerf: memory, Provenance: ratios.Provenance{Source: "configmap"}}
}

func TestProfile(t *testing.T) {
	t.Run("fills in each value that a rule leaves out from the globals", fillsInEachValueThatARuleLeavesOutFromTheGlobals)
	t.Run("a rule's own ratio takes precedence over all layers", aRulesOwnRatioTakesPrecedenceOverAllLayers)
	t.Run("rules inherit overrides of the globals from a layer above", rulesInheritOverridesOfTheGlobalsFromALayerAbove)
	t.Run("takes all rules from the first layer with rules", takesAllRulesFromTheFirstLayerWithRules)
	t.Run("names all rules that do not fit the merged globals", namesAllRulesThatDoNotFitTheMergedGlobals)
}

func fillsInEachValueThatARuleLeavesOutFromTheGlobals(t *testing.T) {
	class := policy.Criteria{ComputeClass: "c"}
	globals := policy.Bounds{CPU: sizing.Range{Min: 50, Max: 16000}, Memory: sizing.Range{Min: 64 << 20}}
	factors := func(n2d, n4, c3 sizing.Factor) map[string]sizing.Factor {
		return map[string]sizing.Factor{"n2d": n2d, "n4": n4, "c3": c3}
	}
	one := sizing.Factor{Num: 1, Den: 1}
	unchanged := factors(one, sizing.Factor{Num: 4, Den: 5}, sizing.Factor{Num: 10, Den: 13})
	for _, tc := range []struct {
		name     string
		rule     ratios.Rule
		baseline string
		bounds   policy.Bounds
		cpu      map[string]sizing.Factor
	}{
		{"no values", ratios.Rule{}, "n2d", globals, unchanged},
		{"a baseline", ratios.Rule{Baseline: "c3"}, "c3", globals, factors(sizing.Factor{Num: 13, Den: 10}, sizing.Factor{Num: 26, Den: 25}, one)},
		{"a node type of the globals", ratios.Rule{Ratios: map[string]ratios.Ratio{"n4": ratio(2, 1)}}, "n2d", globals,
			factors(one, sizing.Factor{Num: 1, Den: 2}, sizing.Factor{Num: 10, Den: 13})},
		{"the baseline's ratio", ratios.Rule{Ratios: map[string]ratios.Ratio{"n2d": ratio(1.3, 1)}}, "n2d", globals,
			factors(one, sizing.Factor{Num: 26, Den: 25}, one)},
		{"a lower end", ratios.Rule{Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 100}}})}, "n2d",
			policy.Bounds{CPU: sizing.Range{Min: 100, Max: 16000}, Memory: globals.Memory}, unchanged},
		{"upper ends", ratios.Rule{Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Max: 100}, Memory: sizing.Range{Max: 1 << 30}}})}, "n2d",
			policy.Bounds{CPU: sizing.Range{Min: 50, Max: 100}, Memory: sizing.Range{Min: 64 << 20, Max: 1 << 30}}, unchanged},
		{"ends that are equal", ratios.Rule{Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 16000}, Memory: sizing.Range{Max: 64 << 20}}})}, "n2d",
			policy.Bounds{CPU: sizing.Range{Min: 16000, Max: 16000}, Memory: sizing.Range{Min: 64 << 20, Max: 64 << 20}}, unchanged},
		{"ends that are opened", ratios.Rule{Settings: keys.Some(policy.Settings{}, "bounds.cpu.max", "bounds.memory.min")}, "n2d",
			policy.Bounds{CPU: sizing.Range{Min: 50}}, unchanged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.rule.Match = class
			table := merge(t, withRules(tc.rule))
			p := table.Profile(ratiotest.Subject{Class: "c"})
			if p.Baseline != tc.baseline || p.Bounds != tc.bounds || !slices.Equal(p.NodeTypes(), []string{"c3", "n2d", "n4"}) {
				t.Errorf("baseline %s, bounds %v, node types %v; want %s, %v", p.Baseline, p.Bounds, p.NodeTypes(), tc.baseline, tc.bounds)
			}
			got := map[string]sizing.Factor{}
			for _, nodeType := range p.NodeTypes() {
				e, _ := p.Lookup(nodeType)
				got[nodeType] = e.CPUFactor
			}
			if diff := cmp.Diff(tc.cpu, got); diff != "" {
				t.Error(diff)
			}
			n4, _ := table.Lookup("n4")
			if table.Baseline != "n2d" || table.Bounds != globals || n4.CPUFactor != (sizing.Factor{Num: 4, Den: 5}) {
				t.Errorf("the rule changed the globals: %+v", table)
			}
		})
	}
}

func aRulesOwnRatioTakesPrecedenceOverAllLayers(t *testing.T) {
	over := layer("override", "", map[string]float64{"n4": 1.1})
	table := merge(t, over, withRules(ratios.Rule{Name: "r", Match: policy.Criteria{ComputeClass: "c"}, Baseline: "e2",
		Ratios: map[string]ratios.Ratio{"n4": ratio(2, 4), "e2": ratio(0.5, 1)}}))
	p := table.Profile(ratiotest.Subject{Class: "c"})
	n4, _ := p.Lookup("n4")
	want := &ratios.Entry{NodeType: "n4", Ratio: ratio(2, 4), Candidates: []ratios.Ratio{ratio(2, 4), over.Ratios["n4"], ratio(1.25, 1)},
		CPUFactor: sizing.Factor{Num: 1, Den: 4}, MemoryFactor: sizing.Factor{Num: 1, Den: 4}}
	if diff := cmp.Diff(want, n4); diff != "" {
		t.Error(diff)
	}
	if !p.Knows("e2") || table.Knows("e2") || p.Knows("m7i") {
		t.Error("a node type of the rule must be in the rule's profile only")
	}
}

func rulesInheritOverridesOfTheGlobalsFromALayerAbove(t *testing.T) {
	over := layer("override", "", map[string]float64{"c3": 2})
	table := merge(t, over, withRules(ratios.Rule{Match: policy.Criteria{ComputeClass: "c"}, Baseline: "n4"}))
	c3, _ := table.Profile(ratiotest.Subject{Class: "c"}).Lookup("c3")
	if want := (sizing.Factor{Num: 5, Den: 8}); c3.CPUFactor != want {
		t.Errorf("factor %v, want %v", c3.CPUFactor, want)
	}
}

func takesAllRulesFromTheFirstLayerWithRules(t *testing.T) {
	first, second := withRules(ratios.Rule{Name: "first", Match: policy.Criteria{ComputeClass: "a"}}), withRules(ratios.Rule{Name: "second", Match: policy.Criteria{ComputeClass: "b"}})
	table := merge(t, withRules(), nil, first, second)
	if a, b := table.Profile(ratiotest.Subject{Class: "a"}).Name, table.Profile(ratiotest.Subject{Class: "b"}).Name; a != "first" || b != "" {
		t.Errorf("profiles %q and %q", a, b)
	}
}

func namesAllRulesThatDoNotFitTheMergedGlobals(t *testing.T) {
	_, err := ratios.Merge([]*ratios.Layer{withRules(
		ratios.Rule{Name: "overrides[0] (a)", Baseline: "e2"},
		ratios.Rule{Name: "podLabels.env.test", Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 20000}}})},
		ratios.Rule{Name: "computeClasses.x", Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{Memory: sizing.Range{Max: 1 << 20}}})},
		ratios.Rule{Name: "computeClasses.y", Baseline: "c3"},
	)})
	want := `overrides[0] (a): the baseline node type "e2" has no ratio
podLabels.env.test: combined with the global bounds, the cpu min is above the max
computeClasses.x: combined with the global bounds, the memory min is above the max`
	if err == nil || err.Error() != want {
		t.Errorf("error\n%v\nwant\n%s", err, want)
	}
}
