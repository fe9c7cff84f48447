package console

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestRatio checks what the page of the nodes of a type shows of its ratio: what each source has and what benchmarks suggest, on one scale,
// and what accepting that would change.
func TestRatio(t *testing.T) {
	server := cmdtest.Answering(scripted(), cmdtest.On(func(req *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
		return &workloadresizerv1.GetSuggestionResponse{
			Suggestion: &workloadresizerv1.Suggestion{
				NodeType: req.GetNodeType(), BaselineNodeType: "n2d", Ratio: new(1.2), CpuPerf: new(1.2), MemoryPerf: new(1.0), Samples: 12, Machines: 3,
				Interval: &workloadresizerv1.RatioInterval{Low: 1.1, High: 1.4, Confidence: 0.95},
				Holds:    []*workloadresizerv1.SuggestionHold{{Code: "TooFewMachines", Message: hostile}},
				Parts:    []*workloadresizerv1.SuggestionPart{{Benchmark: "compress", Version: "2", Ratio: 1.0, Weight: 1, Samples: 12, Machines: 3}},
			},
			Impact: &workloadresizerv1.Impact{
				Total: &workloadresizerv1.ImpactGroup{Pods: 7, RequestDelta: map[string]string{"cpu": "-1500m"}, Vetoed: 2}, Incomplete: true,
				Vetoed: []*workloadresizerv1.VetoedPod{{Namespace: "shop", Pod: hostile, Node: "node-1", Code: "NodeCapacity"}},
			},
		}, nil
	}))
	r := start(t, server.Serve(t))
	_, body := r.get("/nodes?type=n4")
	body = html.UnescapeString(body)
	for _, want := range []string{
		"How fast n4 is", "How many times as fast as n2d.",
		`(in effect)</th>`, "suggested by benchmarks", "1.2, from 1.1 to 1.4 with 95% confidence",
		`<rect x="53`, `<circle cx="100`, // 1.1 and 1.2 on a scale from 1, as the benchmark has it, to 1.4.
		"benchmark compress", `<circle cx="6"`,
		"TooFewMachines", "What was measured", "12 samples from 3 machines",
		"What accepting the suggestion would change", "all pods", "NodeCapacity", "not shown: namespaces that you cannot see", "not shown: 1 more pod that would be vetoed",
		"resizectl benchmark suggest n4",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("there is no %q:\n%s", want, body)
		}
	}
	if _, body := r.get("/nodes"); strings.Contains(body, "How many times as fast") {
		t.Error("without a type, there is a ratio")
	}
	for nodeType, fails := range map[string]struct {
		err  error
		want string
	}{
		"x9":    {cmdtest.WithReason(codes.NotFound, "NO_SUGGESTION", "no benchmark covers it"), "No benchmark suggests a ratio of it."},
		hostile: {cmdtest.WithReason(codes.PermissionDenied, "PERMISSION_DENIED", "you may not see it"), "you may not see it"},
	} {
		server.Follow(cmdtest.Fails("GetSuggestion", fails.err))
		if _, body := r.get("/nodes?type=" + url.QueryEscape(nodeType)); !strings.Contains(body, "No source has a ratio of it.") || !strings.Contains(body, fails.want) {
			t.Errorf("of %s, without a suggestion:\n%s", nodeType, body)
		}
	}
}
