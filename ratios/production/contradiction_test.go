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
	for _, tc := range []struct {
		name   string
		shows  Suggestion
		layers []*ratios.Layer
		want   []Contradiction
	}{
		{"within both", shows(), []*ratios.Layer{from("configmap", 2.5)}, nil},
		{"outside of the cluster's, but as for some workload", shows(), []*ratios.Layer{from("configmap", 2.3)}, nil},
		{"the lower end", shows(), []*ratios.Layer{from("configmap", 2.2)}, nil},
		{"the upper end", shows(), []*ratios.Layer{from("configmap", 2.84)}, nil},
		{"below both", shows(), []*ratios.Layer{from("configmap", 2)}, []Contradiction{{"n4", "configmap", 1}}},
		{"above both, of two sources", shows(), []*ratios.Layer{from("override", 3), from("configmap", 2.9)}, []Contradiction{{"n4", "override", 1.5}}},
		{"not in effect", shows(), []*ratios.Layer{from("override", 2.5), from("configmap", 3)}, nil},
		{"itself", shows(), []*ratios.Layer{from(Source, 2.5), from("configmap", 3)}, nil},
		{"held back", shows(Doubt{"TooFewNodes", "2"}), []*ratios.Layer{from("configmap", 2)}, nil},
		{"not known", Suggestion{NodeType: "n4"}, []*ratios.Layer{from("configmap", 2)}, nil},
		{"a type without a ratio", Suggestion{NodeType: "c3", Cluster: Interval{1.2, 1.1, 1.3}, Next: Interval{1.2, 1.1, 1.3}}, []*ratios.Layer{from("configmap", 2)}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, err := ratios.Merge(tc.layers)
			if err != nil {
				t.Fatal(err)
			}
			v := &View{Baseline: "n2d", Suggestions: []Suggestion{tc.shows}}
			if diff := cmp.Diff(tc.want, v.Contradictions(table)); diff != "" {
				t.Error(diff)
			}
		})
	}
	table, err := ratios.Merge([]*ratios.Layer{from("configmap", 2)})
	if err != nil {
		t.Fatal(err)
	}
	if got := (&View{Baseline: "gone", Suggestions: []Suggestion{shows()}}).Contradictions(table); got != nil {
		t.Errorf("without the baseline: %+v", got)
	}
	if shows := shows(); shows.Contradicts(1.4, 1.6) || !shows.Contradicts(1.43, 1.6) || !shows.Contradicts(0.9, 1.09) {
		t.Error("an interval contradicts only if it overlaps none")
	}
}
