package main

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHidden(t *testing.T) {
	t.Run("warns of hidden namespaces", warnsOfHiddenNamespaces)
}

// Users who cannot see pods must not conclude that no pods exist.
func warnsOfHiddenNamespaces(t *testing.T) {
	address := cmdtest.Answering(written(), cmdtest.Plans(&workloadresizerv1.PlanSummary{Incomplete: true})).Serve(t)
	const warning = "warning: pods in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n"
	code, stdout, stderr := program.Shell(t.Context(), "plan", "-A", "--server", address)
	if code != command.ExitOK || stdout != "0 pods: 0 to resize, 0 aligned, 0 skipped, without namespaces that you cannot see\n" || stderr != warning+"no pods found that you can see\n" {
		t.Errorf("plan: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, _, stderr := program.Shell(t.Context(), "plan", "-A", "-o", "json", "--server", address); !strings.HasPrefix(stderr, warning) {
		t.Errorf("plan -o json: stderr %q", stderr)
	}
	if _, _, stderr := program.Shell(t.Context(), "restore", "-A", "--dry-run", "--server", address); stderr != warning {
		t.Errorf("restore: stderr %q", stderr)
	}
}
