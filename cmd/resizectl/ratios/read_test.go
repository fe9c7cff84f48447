package ratios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestRead(t *testing.T) {
	t.Run("prints ratios of several sources", printsRatiosOfSeveralSources)
	t.Run("says that there are no rules", saysThatThereAreNoRules)
	t.Run("fails for an unknown node type", failsForAnUnknownNodeType)
	t.Run("reads the history in pages", readsTheHistoryInPages)
	t.Run("completes node types", completesNodeTypes)
	t.Run("completes nothing silently without a server", completesNothingSilentlyWithoutAServer)
}

func printsRatiosOfSeveralSources(t *testing.T) {
	address := newWritable().Serve(t)
	for _, output := range print.Formats {
		for name, args := range map[string][]string{
			"ratios-overridden": {"list"}, "ratios-rules": {"list", "--rules"}, "ratios-get": {"get", "n4"}, "ratios-history": {"history"},
		} {
			code, stdout, stderr := program.Shell(t.Context(), onRatios(args, "-o", output, "--server", address)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("%v -o %s: exit %d, stderr %q", args, output, code, stderr)
			}
			cmdtest.Golden(t, name+"."+output, stdout)
		}
	}
}

func saysThatThereAreNoRules(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "ratios", "list", "--rules", "--server", cmdtest.Answering(cmdtest.Table(cmdtest.Ratios())).Serve(t))
	if code != command.ExitOK || stderr != "there are no rules: the same ratios apply to every pod\n" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	cmdtest.Golden(t, "ratios.table", stdout)
}

func failsForAnUnknownNodeType(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "ratios", "get", "n5", "--server", newWritable().Serve(t))
	if code != command.ExitError || stdout != "" || stderr != "error: node type \"n5\" has no ratio; "+connect.Hints["NODE_TYPE_UNKNOWN"]+"\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func readsTheHistoryInPages(t *testing.T) {
	const older = "there are older changes: --limit 0 lists all that are kept\n"
	server := newWritable()
	address := server.Serve(t)
	for _, tc := range []struct {
		args    []string
		numbers string
		stderr  string
		last    *workloadresizerv1.ListOverrideChangesRequest
	}{
		{nil, "4 3 3 2 2 1", "", &workloadresizerv1.ListOverrideChangesRequest{PageSize: 18, PageToken: "2"}},
		{[]string{"--limit", "0"}, "4 3 3 2 2 1", "", &workloadresizerv1.ListOverrideChangesRequest{PageSize: 1000, PageToken: "2"}},
		{[]string{"--limit", "1"}, "4", older, &workloadresizerv1.ListOverrideChangesRequest{PageSize: 1}},
		{[]string{"n4", "--limit", "3"}, "4 3 3 2 2", older, &workloadresizerv1.ListOverrideChangesRequest{NodeType: "n4", PageSize: 1, PageToken: "2"}},
	} {
		t.Run(fmt.Sprint(tc.args), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), onRatios([]string{"history", "--server", address}, tc.args...)...)
			var numbers []string
			for _, line := range strings.Split(strings.TrimSpace(stdout), "\n")[1:] {
				numbers = append(numbers, strings.Fields(line)[0])
			}
			if code != command.ExitOK || stderr != tc.stderr || strings.Join(numbers, " ") != tc.numbers {
				t.Errorf("exit %d, changes %v, stderr %q; want %s, %q", code, numbers, stderr, tc.numbers, tc.stderr)
			}
			if diff := cmp.Diff(proto.Message(tc.last), server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong last request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHistoryOfNothing(t *testing.T) {
	code, stdout, stderr := program.Shell(t.Context(), "ratios", "history", "n4", "--server", cmdtest.Answering().Serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "no changes to overrides are kept\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func completesNodeTypes(t *testing.T) {
	address := newWritable().Serve(t)
	for _, tc := range []struct {
		name string
		args []string
		want string
	}{
		{"node types of get", []string{"get", ""}, "c3\t1.3/1 from configmap\nn2d\t1/1 from configmap\nn4\t1.08/1 from override\n:4\n"},
		{"only one node type of get", []string{"get", "c3", ""}, ":4\n"},
		{"node types of delete", []string{"delete", ""}, "c3\t1.3/1 from configmap\nn2d\t1/1 from configmap\nn4\t1.08/1 from override\n:4\n"},
		{"node types of set that are not named yet", []string{"set", "c3", ""}, "n2d\t1/1 from configmap\nn4\t1.08/1 from override\n:4\n"},
		{"node types of history", []string{"history", ""}, "c3\t1.3/1 from configmap\nn2d\t1/1 from configmap\nn4\t1.08/1 from override\n:4\n"},
		{"values of --dry-run", []string{"set", "n4", "--dry-run="}, "none\nserver\n:4\n"},
		{"changes to roll back to", []string{"rollback", "--to", ""}, "4\t2026-11-21T04:02:03Z by -: expired\n3\t2026-11-21T03:02:03Z by ann: -\n:36\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, stdout, _ := program.Shell(t.Context(), append([]string{"__complete", "ratios", "--server", address}, tc.args...)...); stdout != tc.want {
				t.Errorf("completed as %q, want %q", stdout, tc.want)
			}
		})
	}
}

// Anything that is printed during completion would stay in the command line.
func completesNothingSilentlyWithoutAServer(t *testing.T) {
	_, stdout, stderr := program.Shell(t.Context(), "__complete", "ratios", "--server", cmdtest.Nobody(t), "get", "")
	if stdout != ":4\n" || stderr != "Completion ended with directive: ShellCompDirectiveNoFileComp\n" {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}
