package ratios_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestRevision(t *testing.T) {
	t.Run("the revision follows the rules", theRevisionFollowsTheRules)
}

func theRevisionFollowsTheRules(t *testing.T) {
	min := int64(100)
	a, b := policy.Criteria{Labels: map[string]string{"a": "b"}}, policy.Criteria{ComputeClass: "b"}
	revision := func(rules ...ratios.Rule) string { return merge(t, withRules(rules...)).Revision }
	seen := map[string]int{}
	for i, rules := range [][]ratios.Rule{
		nil,
		{{Match: a}},
		{{Match: b}},
		{{Match: policy.Criteria{Annotations: map[string]string{"a": "b"}}}},
		{{Match: a, Baseline: "n4"}},
		{{Match: a, Settings: keys.Some(policy.Settings{Bounds: policy.Bounds{CPU: sizing.Range{Min: min}}})}},
		{{Match: a, Ratios: map[string]ratios.Ratio{"n4": ratio(2, 1)}}},
		{{Match: a, Baseline: "n4"}, {Match: b}},
		{{Match: b}, {Match: a, Baseline: "n4"}},
	} {
		r := revision(rules...)
		if other, ok := seen[r]; ok {
			t.Errorf("rules %d and %d have the same revision", other, i)
		}
		seen[r] = i
	}
	if revision(ratios.Rule{Name: "x", Match: a}) != revision(ratios.Rule{Name: "y", Match: a}) {
		t.Error("the revision changed with the rule's name")
	}
}
