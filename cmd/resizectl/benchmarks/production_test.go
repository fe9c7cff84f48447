package benchmarks

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestProduction checks what people see of production in each of its states.
func TestProduction(t *testing.T) {
	address := cmdtest.Answering(
		cmdtest.Pages(2, &workloadresizerv1.ListSuggestionsResponse{Suggestions: cmdtest.Production(), BaselineNodeType: "n2d"}),
		cmdtest.On(func(req *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
			for _, s := range cmdtest.Production() {
				if s.GetNodeType() == req.GetNodeType() {
					return &workloadresizerv1.GetSuggestionResponse{Suggestion: s}, nil
				}
			}
			return nil, fmt.Errorf("there is no %q", req.GetNodeType())
		}),
	).Serve(t)
	shows := func(golden string, args ...string) {
		t.Run(golden, func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"ratios", "suggest", "--server", address}, args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, golden, stdout)
		})
	}
	shows("production.table")
	shows("production.wide", "-o", "wide")
	for _, s := range cmdtest.Production() {
		shows("production-"+s.GetNodeType()+".table", s.GetNodeType())
	}
}

// TestVerdict checks that people see first what the suggestion means for the ratio in effect.
func TestVerdict(t *testing.T) {
	from := func(source string, ratio float64) *workloadresizerv1.Ratio {
		return &workloadresizerv1.Ratio{CpuPerf: ratio, CpuFactor: 1 / ratio, Provenance: &workloadresizerv1.Provenance{Source: source}}
	}
	shown := func(holds ...*workloadresizerv1.SuggestionHold) *workloadresizerv1.ProductionSuggestion {
		return &workloadresizerv1.ProductionSuggestion{
			Ratio: new(1.25), CpuPerf: new(1.25), Holds: holds, Contradictions: []*workloadresizerv1.RatioContradiction{{Source: "configmap", Ratio: 1.5}, {Source: "configmap", Ratio: 1.1}},
		}
	}
	hold := &workloadresizerv1.SuggestionHold{Code: "TooFewNodes"}
	for _, tc := range []struct {
		want string
		of   *workloadresizerv1.Suggestion
	}{
		{"configmap has 1.5, production shows 1.25. Pods on n4 request less cpu", &workloadresizerv1.Suggestion{Current: from("configmap", 1.5), Production: shown()}},
		{"configmap has 1.1, production shows 1.25. Pods on n4 request more cpu", &workloadresizerv1.Suggestion{Current: from("configmap", 1.1), Production: shown()}},
		{"does not contradict the ratio in effect: configmap has 1.2.", &workloadresizerv1.Suggestion{Current: from("configmap", 1.2), Production: shown()}}, // It contradicts others.
		{"the ratio of n4 is implausible and not used, so pods there keep their sizes: configmap has 12.", &workloadresizerv1.Suggestion{
			Current: &workloadresizerv1.Ratio{CpuPerf: 12, CpuFactor: 1.0 / 12, Implausible: "n4 would be 12 times as fast", Provenance: &workloadresizerv1.Provenance{Source: "configmap"}}, Production: shown(),
		}},
		{"does not contradict the ratio in effect: override has 1.2.", &workloadresizerv1.Suggestion{Current: from("override", 1.2), Production: shown()}},
		{"the ratio in effect follows production", &workloadresizerv1.Suggestion{Current: from("production", 1.2), Production: shown()}},
		{"no source has a ratio for n4, so pods there keep their sizes. Production shows 1.25.", &workloadresizerv1.Suggestion{Production: shown()}},
		{"nothing is certain enough yet, and no source has a ratio for n4", &workloadresizerv1.Suggestion{Production: shown(hold)}},
		{"nothing is certain enough yet to judge the ratio in effect: configmap has 1.5.", &workloadresizerv1.Suggestion{Current: from("configmap", 1.5), Production: shown(hold)}},
		{"benchmarks suggest 1.3. Production is not certain enough yet.", &workloadresizerv1.Suggestion{Current: from("configmap", 1.5), Ratio: new(1.3), Production: shown(hold)}},
		{"benchmarks suggest 1.3.", &workloadresizerv1.Suggestion{Current: from("configmap", 1.5), Ratio: new(1.3)}},
	} {
		tc.of.NodeType = "n4"
		if got := Verdict(tc.of); !strings.Contains(got, tc.want) {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
