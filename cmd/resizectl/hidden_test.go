package main

import (
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHidden(t *testing.T) {
	t.Run("plans tell of hidden namespaces", plansTellOfHiddenNamespaces)
}

// Who may not see pods must not take that for there being none.
func plansTellOfHiddenNamespaces(t *testing.T) {
	server := &cmdtest.Server{Summary: &workloadresizerv1.PlanSummary{HiddenNamespaces: 2}}
	address := cmdtest.Serve(t, server)
	const warning = "warning: 2 namespaces with pods are hidden from you: you may not get pods there\n"
	code, stdout, stderr := program.Shell(t.Context(), "plan", "-A", "--server", address)
	if code != command.ExitOK || stdout != "0 pods: 0 to resize, 0 aligned, 0 left alone, and those of 2 namespaces that you may not see\n" || stderr != warning+"no pods found that you may see\n" {
		t.Errorf("plan: exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, _, stderr := program.Shell(t.Context(), "plan", "-A", "-o", "json", "--server", address); !strings.HasPrefix(stderr, warning) {
		t.Errorf("plan -o json: stderr %q", stderr)
	}
	if _, _, stderr := program.Shell(t.Context(), "restore", "-A", "--dry-run", "--server", address); stderr != warning {
		t.Errorf("restore: stderr %q", stderr)
	}
}
