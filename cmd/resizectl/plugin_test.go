package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// As a kubectl plugin, the program names its commands as users write them.
func TestPlugin(t *testing.T) {
	t.Setenv("RESIZECTL_SERVER", "")
	as := func(program string, args ...string) (stdout, stderr string) {
		var out, errOut bytes.Buffer
		run(t.Context(), program, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, args)
		return out.String(), errOut.String()
	}
	for _, program := range []string{"kubectl-workload_resizer", "kubectl-workload_resizer.exe"} {
		stdout, _ := as(program, "plan", "--help")
		cmdtest.Golden(t, "help-plugin-plan.txt", stdout)
		stdout, _ = as(program, "restore", "--help")
		if strings.Contains(stdout, "resizectl") {
			t.Errorf("%s: the help contains resizectl:\n%s", program, stdout)
		}
		about, _, _ := strings.Cut(stdout, "\nUsage:")
		for line := range strings.Lines(about) {
			if len(line) > textWidth+1 {
				t.Errorf("%s: a line of the help is too long: %s", program, line)
			}
		}
		if _, stderr := as(program, "ratios", "rollback"); !strings.Contains(stderr, `"kubectl workload-resizer ratios history" lists the changes`) {
			t.Errorf("%s: wrong error %q", program, stderr)
		}
		if _, stderr := as(program, "paln"); !strings.HasSuffix(stderr, "see \"kubectl workload-resizer --help\"\n") {
			t.Errorf("%s: wrong usage error %q", program, stderr)
		}
	}
	for _, program := range []string{"resizectl", "resizectl.test", "kubectl"} {
		if stdout, _ := as(program, "plan", "--help"); strings.Contains(stdout, pluginName) {
			t.Errorf("%s runs as a plugin", program)
		}
	}
}

func TestPluginRules(t *testing.T) {
	t.Run("shows the plugin's command to accept a suggestion", showsThePluginsCommandToAcceptASuggestion)
	t.Run("names the plugin's commands in remedies", namesThePluginsCommandsInRemedies)
}

// Users who run the program through kubectl see commands that they can copy.
func showsThePluginsCommandToAcceptASuggestion(t *testing.T) {
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
	address := cmdtest.Answering(known()).Serve(t)
	code := run(t.Context(), pluginProgram, streams, []string{"ratios", "suggest", "n4", "--server", address})
	if code != command.ExitOK || !strings.HasSuffix(out.String(), "\nTo accept the suggestion of benchmarks:\n  kubectl workload-resizer --server='"+address+"' benchmark accept n4\n") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, &out, &errOut)
	}
}

// A user of the plugin may have no program by the name resizectl.
func namesThePluginsCommandsInRemedies(t *testing.T) {
	plan := cmdtest.Aligned()
	plan.Decision, plan.Reasons = workloadresizerv1.Decision_DECISION_SKIP, []*workloadresizerv1.PlanReason{{Code: "Frozen"}}
	freeze := &workloadresizerv1.Freeze{Reason: "outage"}
	address := cmdtest.Answering(
		cmdtest.Plans(nil, plan), cmdtest.Returns(&workloadresizerv1.GetStatusResponse{Freeze: freeze}),
		cmdtest.Returns(&workloadresizerv1.ListHoldsResponse{Freeze: freeze}), cmdtest.Returns(&workloadresizerv1.GetFreezeResponse{Freeze: freeze}),
	).Serve(t)
	token := filepath.Join(t.TempDir(), "POD") // This is no placeholder.
	if err := os.WriteFile(token, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"explain", plan.GetPod(), "-n", plan.GetNamespace()},
		{"status"},
	} {
		var out, errOut bytes.Buffer
		streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}
		code := run(t.Context(), pluginProgram, streams, append(args, "--server", address, "--token-file", token))
		want := "kubectl workload-resizer --server='" + address + "' --token-file='" + token + "' unfreeze"
		if code != command.ExitOK || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "resizectl") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", args, code, &out, &errOut)
		}
	}
}
