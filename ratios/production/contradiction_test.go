package production

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/workload-resizer/workload-resizer/ratios"
)

func TestContradictions(t *testing.T) {
	shows := func(doubts ...Doubt) Suggestion {
		return Suggestion{NodeType: "n4", Cluster: Interval{1.25, 1.2, 1.3}, Next: Interval{1.25, 1.1, 1.42}, Doubts: doubts}
	}
	from := func(source string, perf float64) *ratios.Layer {
		return &ratios.Layer{Baseline: "n2d", Ratios: map[string]ratios.Ratio{
			"n2d": {CPUPerf: 2, MemoryPerf: 1, Provenance: ratios.Provenance{Source: "configmap"}},
			"n4":  {CPUPerf: perf, MemoryPerf: 1, Provenance: ratios.Provenance{Source: source}},
		}}
	}
	suggests := func(source string, low, high float64) []Suggested {
		return []Suggested{{"n4", source, (low + high) / 2, low, high}}
	}
	for _, tc := range []struct {
		name      string
		shows     Suggestion
		layers    []*ratios.Layer
		suggested []Suggested
		want      []Contradiction
	}{
		{"within both", shows(), []*ratios.Layer{from("configmap", 2.5)}, nil, nil},
		{"outside of the cluster's, but as for some workload", shows(), []*ratios.Layer{from("configmap", 2.3)}, nil, nil},
		{"the lower end", shows(), []*ratios.Layer{from("configmap", 2.2)}, nil, nil},
		{"the upper end", shows(), []*ratios.Layer{from("configmap", 2.84)}, nil, nil},
		{"below both", shows(), []*ratios.Layer{from("configmap", 2)}, nil, []Contradiction{{"n4", "configmap", 1}}},
		{"above both, of two sources", shows(), []*ratios.Layer{from("override", 3), from("configmap", 2.9)}, nil, []Contradiction{{"n4", "override", 1.5}}},
		{"not in effect", shows(), []*ratios.Layer{from("override", 2.5), from("configmap", 3)}, nil, nil},
		{"itself", shows(), []*ratios.Layer{from(Source, 2.5), from("configmap", 3)}, nil, nil},
		{"held back", shows(Doubt{"TooFewNodes", "2"}), []*ratios.Layer{from("configmap", 2)}, nil, nil},
		{"not known", Suggestion{NodeType: "n4"}, []*ratios.Layer{from("configmap", 2)}, nil, nil},
		{"a suggestion", shows(), []*ratios.Layer{from("configmap", 2.5)}, suggests("benchmark", 1, 1.05), []Contradiction{{"n4", "benchmark", 1.025}}},
		{"a suggestion whose interval overlaps one", shows(), []*ratios.Layer{from("configmap", 2.5)}, suggests("benchmark", 1, 1.1), nil},
		{"a suggestion for another type", shows(), []*ratios.Layer{from("configmap", 2.5)}, []Suggested{{"c3", "benchmark", 1, 1, 1}}, nil},
		{"a suggestion next to the ratio in effect", shows(), []*ratios.Layer{from("configmap", 2)}, suggests("benchmark", 1.43, 1.57),
			[]Contradiction{{"n4", "configmap", 1}, {"n4", "benchmark", 1.5}}},
		{"a suggestion of the source that is in effect", shows(), []*ratios.Layer{from("benchmark", 2)}, suggests("benchmark", 1, 1.05), []Contradiction{{"n4", "benchmark", 1}}},
		{"a suggestion of a source that is in effect and not contradicted", shows(), []*ratios.Layer{from("benchmark", 2.5)}, suggests("benchmark", 1, 1.05), []Contradiction{{"n4", "benchmark", 1.025}}},
		{"a type without a ratio", Suggestion{NodeType: "c3", Cluster: Interval{1.2, 1.1, 1.3}, Next: Interval{1.2, 1.1, 1.3}}, []*ratios.Layer{from("configmap", 2)}, nil, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, err := ratios.Merge(tc.layers)
			if err != nil {
				t.Fatal(err)
			}
			v := &View{Baseline: "n2d", Suggestions: []Suggestion{tc.shows}}
			if diff := cmp.Diff(tc.want, v.Contradictions(table, tc.suggested)); diff != "" {
				t.Error(diff)
			}
		})
	}
	table, err := ratios.Merge([]*ratios.Layer{from("configmap", 2)})
	if err != nil {
		t.Fatal(err)
	}
	if got := (&View{Baseline: "gone", Suggestions: []Suggestion{shows()}}).Contradictions(table, nil); got != nil {
		t.Errorf("without the baseline: %+v", got)
	}
	if shows := shows(); shows.contradicts(1.4, 1.6) || !shows.contradicts(1.43, 1.6) || !shows.contradicts(0.9, 1.09) {
		t.Error("an interval contradicts only if it overlaps none")
	}
}
