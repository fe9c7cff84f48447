package plans

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestExplainObserved checks that explanations name what production shows, and that it is not in effect.
func TestExplainObserved(t *testing.T) {
	e := explained(cmdtest.Web())
	e.Ratio.Candidates = append(e.Ratio.Candidates, &workloadresizerv1.RatioCandidate{
		CpuPerf: 1.2, MemoryPerf: 1, Provenance: &workloadresizerv1.Provenance{Source: "production"}, Observed: true,
	})
	code, stdout, stderr := program.Shell(t.Context(), "explain", "web-6d4cf56db6-x2x7p", "--server", cmdtest.Answering(cmdtest.Explains(e)).Serve(t))
	const want = "It overrides cpu 1.08 and memory 1 from configmap. Only shown, not in effect: cpu 1.2 from production."
	if code != command.ExitOK || stderr != "" || !strings.Contains(stdout, want) {
		t.Errorf("exit %d, stderr %q, no %q in\n%s", code, stderr, want, stdout)
	}
}
