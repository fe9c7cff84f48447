package ratios

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestObserved checks that ratios that a source only shows are next to those of the other sources, and marked.
func TestObserved(t *testing.T) {
	table := cmdtest.Overridden()
	n4 := table.GetRatios()[2]
	n4.Candidates = append(n4.GetCandidates(), &workloadresizerv1.RatioCandidate{
		CpuPerf: 1.2, MemoryPerf: 1, Provenance: &workloadresizerv1.Provenance{Source: "production"}, Observed: true,
	})
	address := cmdtest.Answering(cmdtest.Table(table)).Serve(t)
	for _, args := range [][]string{{"ratios", "list"}, {"ratios", "get", "n4"}} {
		code, stdout, _ := program.Shell(t.Context(), append(args, "-o", "wide", "--server", address)...)
		if want := "configmap 1.25/1, benchmark 1.1/0.99, production 1.2/1 (only shown)"; code != command.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("%v: exit %d, no %q in\n%s", args, code, want, stdout)
		}
		if code, stdout, _ := program.Shell(t.Context(), append(args, "--server", address)...); code != command.ExitOK || strings.Contains(stdout, "production") {
			t.Errorf("%v: exit %d, there is production in\n%s", args, code, stdout)
		}
	}
}
