package main

import (
	"path/filepath"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// Names have the form that kubectl accepts.
func TestNames(t *testing.T) {
	address := cmdtest.Answering(known()).Serve(t)
	manifest := cmdtest.File(t, "deploy.yaml", []byte("kind: Deployment\n"))
	for _, tc := range []struct {
		golden string
		args   []string
		code   int
	}{
		{"ratios.name", []string{"ratios", "list"}, command.ExitOK},
		{"plans.name", []string{"plan", "-A"}, command.ExitDifferences},
		{"plan.name", []string{"plan", "api-0"}, command.ExitOK},
		{"manifest.name", []string{"plan", "-f", manifest}, command.ExitDifferences},
		{"resizes.name", []string{"resizes", "list", "-A"}, command.ExitOK},
		{"holds.name", []string{"holds"}, command.ExitOK},
		{"usage.name", []string{"usage", "-A"}, command.ExitOK},
		{"workloads.name", []string{"workloads", "list", "-A"}, command.ExitOK},
		{"history.name", []string{"history", "list", "-A"}, command.ExitOK},
		{"nodes.name", []string{"nodes", "list"}, command.ExitOK},
	} {
		t.Run(filepath.Base(tc.golden), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append(tc.args, "-o", "name", "--server", address)...)
			if code != tc.code || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
	code, stdout, _ := program.Shell(t.Context(), "ratios", "get", "n4", "-o", "name", "--server", address)
	if code != command.ExitOK || stdout != "nodetype/n4\n" {
		t.Errorf("exit %d, stdout %q", code, stdout)
	}
}

func TestNamesRules(t *testing.T) {
	t.Run("prints the names of a watch", printsTheNamesOfAWatch)
}

func printsTheNamesOfAWatch(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Watches(cmdtest.Stream[*cmdtest.RatioEvent]{Events: cmdtest.RatioEvents()[:4]}))
	const want = "nodetype/c3\nnodetype/n4\nnodetype/n4\n"
	_, stdout, stderr := program.WatchUntil(t, want, "ratios", "watch", "-o", "name", "--server", server.Serve(t))
	if stdout != want || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}
