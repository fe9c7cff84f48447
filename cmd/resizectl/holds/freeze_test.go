package holds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func freezeByAnn() *workloadresizerv1.Freeze {
	return &workloadresizerv1.Freeze{Reason: "outage", Author: "ann", CreateTime: timestamppb.New(cmdtest.Since)}
}

func TestFreeze(t *testing.T) {
	server := &cmdtest.Server{Freezes: freezeByAnn()}
	address := cmdtest.Serve(t, server)
	for _, tc := range []struct {
		golden string
		args   []string
		asked  proto.Message
	}{
		{"freeze.table", []string{"freeze", "--yes", "--reason", "outage"}, &workloadresizerv1.FreezeRequest{Reason: "outage", Author: command.Author()}},
		{"freeze-dry-run.table", []string{"freeze", "--dry-run"}, &workloadresizerv1.FreezeRequest{Author: command.Author(), ValidateOnly: true}},
		{"freeze.json", []string{"freeze", "--yes", "-o", "json"}, &workloadresizerv1.FreezeRequest{Author: command.Author()}},
		{"unfreeze.table", []string{"unfreeze", "--yes", "--reason", "over"}, &workloadresizerv1.UnfreezeRequest{Reason: "over", Author: command.Author()}},
		{"unfreeze-dry-run.table", []string{"unfreeze", "--dry-run"}, &workloadresizerv1.UnfreezeRequest{Author: command.Author(), ValidateOnly: true}},
		{"unfreeze.yaml", []string{"unfreeze", "--yes", "-o", "yaml"}, &workloadresizerv1.UnfreezeRequest{Author: command.Author()}},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			code, stdout, stderr := program.Shell(t.Context(), append(tc.args, "--server", address)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			if diff := cmp.Diff(tc.asked, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func TestFreezeRules(t *testing.T) {
	t.Run("asks before it changes the cluster", func(t *testing.T) {
		server := &cmdtest.Server{}
		address := cmdtest.Serve(t, server)
		for _, name := range []string{"freeze", "unfreeze"} {
			code, _, stderr := program.Shell(t.Context(), name, "--server", address)
			if code != command.ExitError || !strings.Contains(stderr, name+" requires --yes") || len(server.Written()) > 0 {
				t.Errorf("exit %d, stderr %q, %v written", code, stderr, server.Written())
			}
		}
	})
	t.Run("says that there is no freeze to end", func(t *testing.T) {
		code, stdout, stderr := program.Shell(t.Context(), "unfreeze", "--yes", "--server", cmdtest.Serve(t, &cmdtest.Server{}))
		if code != command.ExitOK || stdout != "" || stderr != "the cluster is not frozen\n" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("is reported with the list of holds", func(t *testing.T) {
		code, stdout, stderr := program.Shell(t.Context(), "holds", "--server", cmdtest.Serve(t, &cmdtest.Server{Holds: cmdtest.Held(), Freezes: freezeByAnn()}))
		if code != command.ExitOK || stdout == "" || !strings.HasPrefix(stderr, "the cluster is frozen since 2026-11-21T01:02:03Z, by ann: outage\n") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
}
