package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// ruled has rules of every kind. Its sections are not in order of precedence.
const ruled = published + `
computeClasses:
  Balanced: { baselineNodeType: c3 }
podLabels:
  example.com/tier:
    web: { bounds: { cpu: { max: 500m } } }
  env:
    true: { baselineNodeType: n4 }
    production: { baselineNodeType: c3 }
podAnnotations:
  Example.com/Size: { "very large": { bounds: { memory: { min: 0 } } } }
overrides:
  - name: critical
    match: { computeClass: Performance, podLabel: { env: production }, podAnnotation: { a: "b c" } }
    baselineNodeType: m7i.large
    nodeTypes: { m7i.large: { cpuPerf: 2, memPerf: 1.5 } }
    bounds: { cpu: { min: 2 } }
  - { name: "2", match: { podLabel: { env: test } }, baselineNodeType: n2d }
`

func TestRules(t *testing.T) {
	t.Run("orders rules by precedence and then by position", ordersRulesByPrecedenceAndThenByPosition)
	t.Run("an empty value is a criterion", anEmptyValueIsACriterion)
	t.Run("each kind of rule takes precedence over the next", eachKindOfRuleTakesPrecedenceOverTheNext)
}

func ordersRulesByPrecedenceAndThenByPosition(t *testing.T) {
	from := ratios.Provenance{Source: "configmap"}
	layer, err := Parse([]byte(ruled), from)
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]ratios.Ratio{}
	want := []ratios.Rule{
		{Name: "overrides[0] (critical)",
			Match:    policy.Criteria{ComputeClass: "Performance", Labels: map[string]string{"env": "production"}, Annotations: map[string]string{"a": "b c"}},
			Baseline: "m7i.large", Ratios: map[string]ratios.Ratio{"m7i.large": {CPUPerf: 2, MemoryPerf: 1.5, Provenance: from}},
			Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: 2000}}})},
		{Name: "overrides[1] (2)", Match: policy.Criteria{Labels: map[string]string{"env": "test"}}, Baseline: "n2d", Ratios: none},
		{Name: `podAnnotations["Example.com/Size"]["very large"]`, Match: policy.Criteria{Annotations: map[string]string{"Example.com/Size": "very large"}}, Ratios: none,
			Settings: keys.Some(policy.Settings{}, "bounds.memory.min")},
		{Name: `podLabels["example.com/tier"].web`, Match: policy.Criteria{Labels: map[string]string{"example.com/tier": "web"}}, Ratios: none,
			Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Max: 500}}})},
		{Name: "podLabels.env.true", Match: policy.Criteria{Labels: map[string]string{"env": "true"}}, Baseline: "n4", Ratios: none},
		{Name: "podLabels.env.production", Match: policy.Criteria{Labels: map[string]string{"env": "production"}}, Baseline: "c3", Ratios: none},
		{Name: "computeClasses.Balanced", Match: policy.Criteria{ComputeClass: "Balanced"}, Baseline: "c3", Ratios: none},
	}
	if diff := cmp.Diff(want, layer.Rules); diff != "" {
		t.Error(diff)
	}
	if nodeTypes, rules, err := Validate([]byte(ruled)); nodeTypes != 3 || rules != len(want) || err != nil {
		t.Errorf("%d node types, %d rules, %v", nodeTypes, rules, err)
	}
}

func anEmptyValueIsACriterion(t *testing.T) {
	layer, err := Parse([]byte(published+`
overrides: [{name: a, match: {podLabel: {spot: ""}, podAnnotation: {b: ""}}, baselineNodeType: n4}]
podLabels: {spot: {"": {baselineNodeType: c3}}}
`), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	empty := map[string]string{"spot": ""}
	for _, tc := range []struct {
		pod  ratiotest.Subject
		want string
	}{
		{ratiotest.Subject{Labels: empty, Annotations: map[string]string{"b": ""}}, "overrides[0] (a)"},
		{ratiotest.Subject{Labels: empty}, `podLabels.spot[""]`},
		{ratiotest.Subject{Labels: map[string]string{"spot": "true"}}, ""},
		{ratiotest.Subject{}, ""},
	} {
		if got := table.Profile(tc.pod).Name; got != tc.want {
			t.Errorf("%+v has profile %q, want %q", tc.pod, got, tc.want)
		}
	}
}

func eachKindOfRuleTakesPrecedenceOverTheNext(t *testing.T) {
	layer, err := Parse([]byte(ruled), ratios.Provenance{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	annotations := map[string]string{"Example.com/Size": "very large"}
	labels := map[string]string{"env": "production", "example.com/tier": "web"}
	for _, tc := range []struct {
		pod  ratiotest.Subject
		want string
	}{
		{ratiotest.Subject{Labels: map[string]string{"env": "test"}, Annotations: annotations, Class: "Balanced"}, "overrides[1] (2)"},
		{ratiotest.Subject{Labels: labels, Annotations: annotations, Class: "Balanced"}, `podAnnotations["Example.com/Size"]["very large"]`},
		{ratiotest.Subject{Labels: labels, Class: "Balanced"}, `podLabels["example.com/tier"].web`},
		{ratiotest.Subject{Class: "Balanced"}, "computeClasses.Balanced"},
		{ratiotest.Subject{Class: "Other"}, ""},
	} {
		if got := table.Profile(tc.pod).Name; got != tc.want {
			t.Errorf("%+v has profile %q, want %q", tc.pod, got, tc.want)
		}
	}
}
