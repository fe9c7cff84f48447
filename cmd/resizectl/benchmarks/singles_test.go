package benchmarks

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

// ruleOf returns the rules to paste for a suggestion.
func ruleOf(t *testing.T, s *workloadresizerv1.Suggestion) string {
	t.Helper()
	for _, section := range SuggestionSections(print.Painter{}, s) {
		if section.Rule != "" {
			return section.Rule
		}
	}
	t.Fatal("there is no rule to paste")
	return ""
}

// TestRule checks that what people paste is a configuration in which the pods of a workload have its ratio, and all others keep theirs.
func TestRule(t *testing.T) {
	var of *workloadresizerv1.Suggestion
	for _, s := range cmdtest.Production() {
		if s.GetNodeType() == "singles" {
			of = s
		}
	}
	of.NodeType = "n4@Intel-6-207"
	pasted := ruleOf(t, of)
	layer, err := config.Parse([]byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}, n4@Intel-6-207: {cpuPerf: 1.25, memPerf: 1}}\n"+pasted), ratios.Provenance{})
	if err != nil {
		t.Fatalf("%v:\n%s", err, pasted)
	}
	table, err := ratios.Merge([]*ratios.Layer{layer})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pod  ratiotest.Subject
		want float64
	}{
		{ratiotest.Subject{In: "shop", Labels: map[string]string{"app.kubernetes.io/name": "web", "pod-template-hash": "1"}}, 1.5},
		{ratiotest.Subject{In: "shop", Labels: map[string]string{"app": "true"}}, 1},
		{ratiotest.Subject{In: "bank"}, 1.125},
		{ratiotest.Subject{In: "shop", Labels: map[string]string{"app": "cart"}}, 1.25}, // No label is known to tell it from others.
		{ratiotest.Subject{In: "shop", Labels: map[string]string{"app": "mail"}}, 1.25}, // Its own rule is not pasted again.
		{ratiotest.Subject{In: "elsewhere", Labels: map[string]string{"app.kubernetes.io/name": "web"}}, 1.25},
		{ratiotest.Subject{}, 1.25},
	} {
		by := table.Profile(tc.pod)
		if e, known := by.Lookup("n4@Intel-6-207"); !known || e.Ratio.CPUPerf != tc.want || e.Ratio.MemoryPerf != 1 || by.Baseline != "n2d" {
			t.Errorf("%+v has %+v by %q, want %v", tc.pod, e, by.Name, tc.want)
		}
	}
}

// TestHostileRule checks that no name gets out of its quotes.
func TestHostileRule(t *testing.T) {
	name := "a\" }\nbounds: {cpu: {max: 1m}}\x1b[31m"
	of := &workloadresizerv1.Suggestion{NodeType: "n4", Production: &workloadresizerv1.ProductionSuggestion{WorkloadRatios: []*workloadresizerv1.WorkloadRatio{{
		Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: name}, Ratio: 1.5, CpuPerf: new(1.5), MemoryPerf: new(1.0), PodLabels: map[string]string{"app": "web"},
	}}}}
	pasted := ruleOf(t, of)
	layer, err := config.Parse([]byte("baselineNodeType: n2d\nnodeTypes: {n2d: {cpuPerf: 1, memPerf: 1}}\n"+pasted), ratios.Provenance{})
	if err != nil || len(layer.Rules) != 1 || strings.Count(pasted, "\n") != 4 || strings.Contains(pasted, "\x1b") || !layer.Rules[0].Settings.IsEmpty() {
		t.Errorf("%v:\n%s", err, pasted)
	}
}
