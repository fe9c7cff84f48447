package ratios_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestPlausible(t *testing.T) {
	t.Run("a node type is used up to the maximum", aNodeTypeIsUsedUpToTheMaximum)
	t.Run("each resource counts, in both directions", eachResourceCountsInBothDirections)
	t.Run("performances of any size give finite factors", performancesOfAnySizeGiveFiniteFactors)
	t.Run("the effective ratio counts, from any layer", theEffectiveRatioCountsFromAnyLayer)
	t.Run("the first layer with a maximum sets it", theFirstLayerWithAMaximumSetsIt)
	t.Run("a rule is compared with its own baseline and maximum", aRuleIsComparedWithItsOwnBaselineAndMaximum)
	t.Run("if the baseline is wrong, all other types are implausible", ifTheBaselineIsWrongAllOtherTypesAreImplausible)
	t.Run("the revision shows which types are used", theRevisionShowsWhichTypesAreUsed)
	t.Run("a type is newly unused if it was used or had another ratio", aTypeIsNewlyUnusedIfItWasUsedOrHadAnotherRatio)
	t.Run("a rule's type is not newly unused because the globals' is used again", aRulesTypeIsNotNewlyUnusedBecauseTheGlobalsIsUsedAgain)
	t.Run("ten unused types are described on one line", tenUnusedTypesAreDescribedOnOneLine)
	t.Run("a store describes ten implausible types", aStoreDescribesTenImplausibleTypes)
}

// reasonOf returns why n4 is not used if it has these performances and the baseline has others.
func reasonOf(t *testing.T, n4, n2d ratios.Ratio, most float64) string {
	t.Helper()
	table := merge(t, &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{"n2d": n2d, "n4": n4}, MaxSpeedRatio: most})
	base, _ := table.Lookup("n2d")
	e, _ := table.Lookup("n4")
	if base.Unused != "" {
		t.Errorf("the baseline is not used: %s", base.Unused)
	}
	if want := e.Unused != ""; want != (len(table.UnusedTypes()) == 1) {
		t.Errorf("the entry says %q, and the table lists %v", e.Unused, table.UnusedTypes())
	}
	for _, f := range []float64{e.CPUFactor.Float64(), e.MemoryFactor.Float64()} {
		if !(f > 0) || math.IsInf(f, 0) {
			t.Errorf("factor %v", f)
		}
	}
	return e.Unused
}

// Some of these decimals have no exact float.
func aNodeTypeIsUsedUpToTheMaximum(t *testing.T) {
	for _, tc := range []struct {
		node, baseline, most float64
		used                 bool
	}{
		{5, 1, 0, true},
		{1, 5, 0, true},
		{1.5, 0.3, 0, true},
		{0.35, 1.75, 0, true},
		{5.0000000001, 1, 0, false},
		{1, 5.0000000001, 0, false},
		{125, 1, 0, false},
		{125, 1, 125, true},
		{2, 1, 1.99, false},
		{1.1, 1, 1, false},
		{1, 1, 1, true},
	} {
		if why := reasonOf(t, ratio(tc.node, 1), ratio(tc.baseline, 1), tc.most); (why == "") != tc.used {
			t.Errorf("%v of %v with maximum %v: %q", tc.node, tc.baseline, tc.most, why)
		}
	}
}

func eachResourceCountsInBothDirections(t *testing.T) {
	const remedy = ", beyond maxSpeedRatio 5: correct the ratio of n4 (from configmap) or of n2d (from configmap), or raise maxSpeedRatio in config.yaml"
	for _, tc := range []struct {
		n4, n2d ratios.Ratio
		want    string
	}{
		{ratio(125, 1), ratio(1, 1), "n4 would be 125 times as fast as n2d for cpu"},
		{ratio(1, 1), ratio(8, 1), "n2d would be 8 times as fast as n4 for cpu"},
		{ratio(1, 6.25), ratio(1, 1), "n4 would be 6.25 times as fast as n2d for memory"},
		{ratio(5.0000000001, 1), ratio(1, 1), "n4 would be 5.00005 times as fast as n2d for cpu"},
		{ratio(5.00004, 1), ratio(1, 1), "n4 would be 5.00004 times as fast as n2d for cpu"},
		{ratio(125, 1), ratio(1, 10), "n4 would be 125 times as fast as n2d for cpu and n2d would be 10 times as fast as n4 for memory"},
	} {
		if got := reasonOf(t, tc.n4, tc.n2d, 0); got != tc.want+remedy {
			t.Errorf("got\n%s\nwant\n%s", got, tc.want+remedy)
		}
	}
}

func performancesOfAnySizeGiveFiniteFactors(t *testing.T) {
	if why := reasonOf(t, ratio(1e308, 1), ratio(1e-308, 1), 0); !strings.HasPrefix(why, "n4 would be 1e+616 times as fast as n2d for cpu, ") {
		t.Error(why)
	}
	values := []float64{math.SmallestNonzeroFloat64, 1e-308, 1, 1e300, math.MaxFloat64}
	for _, a := range values {
		for _, b := range values {
			for _, most := range []float64{0, math.MaxFloat64} {
				if why := reasonOf(t, ratio(a, b), ratio(b, a), most); most == 0 && (why == "") != (a == b) {
					t.Errorf("%g and %g: %q", a, b, why)
				}
			}
		}
	}
}

func theEffectiveRatioCountsFromAnyLayer(t *testing.T) {
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25, "c3": 125})
	table := merge(t, layer("override", "", map[string]float64{"n4": 100, "c3": 1.25}), config)
	want := []ratios.UnusedType{{NodeType: "n4", Excess: "n4 would be 100 times as fast as n2d for cpu",
		Why: "n4 would be 100 times as fast as n2d for cpu, beyond maxSpeedRatio 5: correct the ratio of n4 (from override) or of n2d (from configmap), or raise maxSpeedRatio in config.yaml"}}
	if diff := cmp.Diff(want, table.UnusedTypes()); diff != "" {
		t.Error(diff)
	}
}

func theFirstLayerWithAMaximumSetsIt(t *testing.T) {
	high, low := layer("a", "n2d", map[string]float64{"n2d": 1, "n4": 8}), layer("b", "n2d", map[string]float64{"n2d": 1})
	high.MaxSpeedRatio, low.MaxSpeedRatio = 10, 2
	table := merge(t, layer("override", "", map[string]float64{"c3": 1}), high, low)
	if most := table.Profiles()[0].MaxSpeedRatio; most != 10 || len(table.UnusedTypes()) != 0 {
		t.Errorf("maximum %v, implausible %v", most, table.UnusedTypes())
	}
	if most := merge(t, layer("a", "n2d", map[string]float64{"n2d": 1})).Profiles()[0].MaxSpeedRatio; most != ratios.DefaultMaxSpeedRatio {
		t.Errorf("maximum %v without a layer that sets it", most)
	}
}

func aRuleIsComparedWithItsOwnBaselineAndMaximum(t *testing.T) {
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 4, "c3": 0.5, "e2": 100})
	config.Rules = []ratios.Rule{
		{Name: "baseline", Match: policy.Criteria{ComputeClass: "a"}, Baseline: "n4"},
		{Name: "maximum", Match: policy.Criteria{ComputeClass: "b"}, MaxSpeedRatio: 100},
		{Name: "own", Match: policy.Criteria{ComputeClass: "c"}, Ratios: map[string]ratios.Ratio{"n4": ratio(40, 1)}},
		{Name: "nothing", Match: policy.Criteria{ComputeClass: "d"}},
	}
	table := merge(t, config)
	for class, want := range map[string]string{"": "e2", "a": "c3 e2", "b": "", "c": "e2 n4", "d": "e2"} {
		p := table.Profile(ratiotest.Subject{Class: class})
		var unused []string
		for _, name := range p.NodeTypes() {
			if e, _ := p.Lookup(name); e.Unused != "" {
				unused = append(unused, name)
			}
		}
		if got := strings.Join(unused, " "); got != want {
			t.Errorf("class %q: %q are not used, want %q", class, got, want)
		}
	}
	var listed []string
	for _, i := range table.UnusedTypes() {
		listed = append(listed, i.Rule+" "+i.NodeType)
	}
	// The rule "own" shares e2 with the globals; "baseline" compares it with another type.
	if diff := cmp.Diff([]string{" e2", "baseline c3", "baseline e2", "own n4"}, listed); diff != "" {
		t.Error(diff)
	}
}

func ifTheBaselineIsWrongAllOtherTypesAreImplausible(t *testing.T) {
	table := merge(t, layer("configmap", "n2d", map[string]float64{"n2d": 100, "n4": 1.25, "c3": 1.3}))
	if n := len(table.UnusedTypes()); n != 2 {
		t.Errorf("%d types are implausible, want 2", n)
	}
}

func theRevisionShowsWhichTypesAreUsed(t *testing.T) {
	with := func(most float64) string {
		l := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 8})
		l.MaxSpeedRatio = most
		return merge(t, l).Revision
	}
	if with(0) == with(8) || with(8) != with(9) {
		t.Errorf("revisions %s, %s and %s", with(0), with(8), with(9))
	}
}

func unusedNames(unused []ratios.UnusedType) string {
	var names []string
	for _, u := range unused {
		names = append(names, strings.TrimSpace(u.Rule+" "+u.NodeType))
	}
	return strings.Join(names, ", ")
}

func aTypeIsNewlyUnusedIfItWasUsedOrHadAnotherRatio(t *testing.T) {
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 1.25, "c3": 125})
	config.Rules = []ratios.Rule{{Name: "own", Match: policy.Criteria{ComputeClass: "a"}, Baseline: "n4"}}
	measured := &ratios.Layer{RelativeTo: "n2d", Ratios: map[string]ratios.Ratio{"m7i": {CPUPerf: 1.5}}}
	with := func(over map[string]float64) *ratios.Table {
		return merge(t, layer("override", "", over), config, measured)
	}
	for _, tc := range []struct {
		name          string
		before, after map[string]float64
		want          string
	}{
		{"no change", nil, nil, ""},
		{"a type becomes implausible", nil, map[string]float64{"n4": 100}, "n4, own m7i, own n2d"},
		{"a type has another ratio", nil, map[string]float64{"c3": 126}, "c3, own c3"},
		{"the same ratio comes from another source", map[string]float64{"c3": 125}, nil, ""},
		{"an override no longer hides a ratio", map[string]float64{"c3": 1.3}, nil, "c3, own c3"},
		{"a type is used again", map[string]float64{"c3": 126}, map[string]float64{"c3": 1.3}, ""},
		{"the baseline makes all others implausible, and one plausible again", nil, map[string]float64{"n2d": 100}, "n4, own m7i, own n2d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := unusedNames(with(tc.after).NewlyUnused(with(tc.before))); got != tc.want {
				t.Errorf("newly unused: %s; want %s", got, tc.want)
			}
		})
	}
	if after := with(nil); unusedNames(after.NewlyUnused(nil)) != unusedNames(after.UnusedTypes()) {
		t.Error("without a table before, all unused types are new")
	}
}

// The list of unused types does not repeat for a rule what it has for the globals.
func aRulesTypeIsNotNewlyUnusedBecauseTheGlobalsIsUsedAgain(t *testing.T) {
	config := layer("configmap", "n2d", map[string]float64{"n2d": 1, "n4": 125})
	config.Rules = []ratios.Rule{{Name: "own", Match: policy.Criteria{ComputeClass: "a"}, Ratios: map[string]ratios.Ratio{"n4": config.Ratios["n4"]}}}
	before, after := merge(t, config), merge(t, layer("override", "", map[string]float64{"n4": 1.25}), config)
	if got := unusedNames(after.UnusedTypes()); got != "own n4" {
		t.Errorf("unused: %s", got)
	}
	if got := after.NewlyUnused(before); len(got) > 0 {
		t.Errorf("newly unused: %v", got)
	}
}

func tenUnusedTypesAreDescribedOnOneLine(t *testing.T) {
	u := ratios.UnusedType{NodeType: "n4", Excess: "n4 would be fast", Why: "n4 would be fast: correct it"}
	of := ratios.UnusedType{Rule: "own", NodeType: "c3", Excess: "c3 would be slow", Why: "c3 would be slow: correct it"}
	const beyond, remedy = " node types would not be used: ", ", beyond maxSpeedRatio: correct the ratios, or raise maxSpeedRatio in config.yaml"
	for _, tc := range []struct {
		unused []ratios.UnusedType
		want   string
	}{
		{[]ratios.UnusedType{of}, "c3 by own would not be used: c3 would be slow: correct it"},
		{[]ratios.UnusedType{u, of}, "2" + beyond + "n4 (n4 would be fast), c3 by own (c3 would be slow)" + remedy},
		{append(slices.Repeat([]ratios.UnusedType{u}, 10), of, of), "12" + beyond + strings.Repeat("n4 (n4 would be fast), ", 10) + "and 2 more" + remedy},
	} {
		if got := ratios.DescribeUnused(tc.unused); got != tc.want {
			t.Errorf("got\n%s\nwant\n%s", got, tc.want)
		}
	}
}

func aStoreDescribesTenImplausibleTypes(t *testing.T) {
	types := map[string]float64{"n2d": 100}
	for i := range 12 {
		types["t"+string(rune('a'+i))] = 1
	}
	m := ratiotest.NewMemory("configmap", ratios.Update{Layer: layer("configmap", "n2d", map[string]float64{"n2d": 1})})
	s := run(t, m)
	if err := s.ImplausibleRatios(); err != nil {
		t.Errorf("%v without a table or an implausible ratio", err)
	}
	changes := s.Watch()
	m.Set(ratios.Update{Layer: layer("configmap", "n2d", types)})
	await(t, s, changes, func() bool { return s.ImplausibleRatios() != nil })
	lines := strings.Split(s.ImplausibleRatios().Error(), "\n")
	if len(lines) != 11 || !strings.HasPrefix(lines[0], "implausible ratio: n2d would be 100 times as fast as ta for cpu, ") || lines[10] != "implausible ratios: 2 more" {
		t.Errorf("%q", lines)
	}
	if err := s.Problem(); err != nil {
		t.Errorf("the source has the problem %v", err)
	}
}
