package main

import (
	"path/filepath"
	"testing"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Names are in the form that kubectl takes.
func TestNames(t *testing.T) {
	server := cluster()
	server.ratios, server.holds, server.resizing.resizes, server.resizing.manifest = ratios(), held(), resizes(), manifestPlans()
	address := serve(t, server)
	manifest := file(t, "deploy.yaml", []byte(manifestText))
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
	} {
		t.Run(filepath.Base(tc.golden), func(t *testing.T) {
			code, stdout, stderr := resizectl(t.Context(), append(tc.args, "-o", "name", "--server", address)...)
			if code != tc.code || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			golden(t, tc.golden, stdout)
		})
	}
	code, stdout, _ := resizectl(t.Context(), "ratios", "get", "n4", "-o", "name", "--server", serve(t, writable()))
	if code != command.ExitOK || stdout != "nodetype/n4\n" {
		t.Errorf("exit %d, stdout %q", code, stdout)
	}
}

func TestNamesOfAWatch(t *testing.T) {
	server := &scripted{}
	server.watches.next = []scriptedStream[*ratioEvent]{{events: append(present(), changed())}}
	const want = "nodetype/c3\nnodetype/n4\nnodetype/n4\n"
	_, stdout, stderr := watchUntil(t, want, "ratios", "watch", "-o", "name", "--server", serve(t, server))
	if stdout != want || stderr != "" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

// "list --watch" is "watch".
func TestListsThatAreWatched(t *testing.T) {
	for _, flag := range []string{"-w", "--watch"} {
		server := &scripted{}
		server.watches.next = []scriptedStream[*ratioEvent]{{events: append(present(), changed(), gone())}}
		server.resizing.watches.next = []scriptedStream[*workloadresizerv1.WatchResizesResponse]{{events: watchedResizes()}}
		address := serve(t, server)
		_, stdout, _ := watchUntil(t, "deleted", "ratios", "list", flag, "--server", address)
		golden(t, "ratios-watch.table", stdout)
		_, stdout, _ = watchUntil(t, "deleted", "resizes", "list", flag, "--server", address)
		golden(t, "resizes-watch.table", stdout)
	}
}
