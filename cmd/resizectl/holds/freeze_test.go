package holds

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	reconcilerhold "github.com/workload-resizer/workload-resizer/reconciler/hold"
)

func freezeByAnn() *workloadresizerv1.Freeze {
	return &workloadresizerv1.Freeze{Reason: "outage", Author: "ann", CreateTime: timestamppb.New(cmdtest.Since)}
}

func TestFreeze(t *testing.T) {
	for _, tc := range []struct {
		golden string
		now    *workloadresizerv1.Freeze
		args   []string
		asked  proto.Message
	}{
		{"freeze.table", nil, []string{"freeze", "--yes", "--reason", "outage"}, &workloadresizerv1.FreezeRequest{Reason: "outage", Author: connect.Author()}},
		{"freeze-dry-run.table", nil, []string{"freeze", "--dry-run"}, &workloadresizerv1.FreezeRequest{Author: connect.Author(), ValidateOnly: true}},
		{"freeze.json", nil, []string{"freeze", "--yes", "-o", "json"}, &workloadresizerv1.FreezeRequest{Author: connect.Author()}},
		{"freeze-again.table", freezeByAnn(), []string{"freeze"}, &workloadresizerv1.GetFreezeRequest{}},
		{"freeze-again.json", freezeByAnn(), []string{"freeze", "--yes", "--reason", "another", "-o", "json"}, &workloadresizerv1.GetFreezeRequest{}},
		{"unfreeze.table", freezeByAnn(), []string{"unfreeze", "--yes", "--reason", "over"}, &workloadresizerv1.UnfreezeRequest{Reason: "over", Author: connect.Author()}},
		{"unfreeze-dry-run.table", freezeByAnn(), []string{"unfreeze", "--dry-run"}, &workloadresizerv1.UnfreezeRequest{Author: connect.Author(), ValidateOnly: true}},
		{"unfreeze.yaml", freezeByAnn(), []string{"unfreeze", "--yes", "-o", "yaml"}, &workloadresizerv1.UnfreezeRequest{Author: connect.Author()}},
		{"unfreeze-none.json", nil, []string{"unfreeze", "-o", "json"}, &workloadresizerv1.GetFreezeRequest{}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			server := holding{freeze: tc.now}.server()
			code, stdout, stderr := program.Shell(t.Context(), append(tc.args, "--server", server.Serve(t))...)
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

// answering runs a command at a terminal whose user answers no, and returns its standard error.
func answering(t *testing.T, server *cmdtest.Fake, name string) (code int, stderr string) {
	t.Helper()
	var errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: cmdtest.OpenTerminal(t).Typed(t, "n\n"), Out: &bytes.Buffer{}, ErrOut: &errOut}
	code = program(t.Context(), streams, []string{name, "--server", server.Serve(t)})
	return code, errOut.String()
}

func TestFreezeRules(t *testing.T) {
	t.Run("asks before it changes the cluster", func(t *testing.T) {
		for name, server := range map[string]*cmdtest.Fake{"freeze": holding{}.server(), "unfreeze": holding{freeze: freezeByAnn()}.server()} {
			code, _, stderr := program.Shell(t.Context(), name, "--server", server.Serve(t))
			if code != command.ExitError || !strings.Contains(stderr, name+" requires --yes") || len(server.Written()) > 0 {
				t.Errorf("exit %d, stderr %q, %v written", code, stderr, server.Written())
			}
		}
	})
	t.Run("shows the current state before it asks", func(t *testing.T) {
		for name, tc := range map[string]struct {
			server *cmdtest.Fake
			want   string
		}{
			"freeze":   {holding{}.server(), "the cluster is not frozen\nStop all writes to the pods in the cluster, restores included? [y/N] "},
			"unfreeze": {holding{freeze: freezeByAnn()}.server(), "the cluster is frozen since 2026-11-21T01:02:03Z, by ann: outage\nEnd the freeze, and write to the pods in the cluster again? [y/N] "},
		} {
			code, stderr := answering(t, tc.server, name)
			if code != command.ExitError || !strings.HasPrefix(stderr, tc.want) || len(tc.server.Written()) > 0 {
				t.Errorf("%s: exit %d, stderr %q, %v written", name, code, stderr, tc.server.Written())
			}
		}
	})
	t.Run("says that there is no freeze to end, without asking", func(t *testing.T) {
		code, stdout, stderr := program.Shell(t.Context(), "unfreeze", "--server", holding{}.serve(t))
		if code != command.ExitOK || stdout != "" || stderr != "the cluster is not frozen\n" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("freezes the cluster although the state is not known", func(t *testing.T) {
		server := holding{}.server()
		server.Follow(cmdtest.Fails("GetFreeze", cmdtest.WithReason(codes.Unavailable, "FREEZE_NOT_READY", "read the freeze: refused")))
		code, stdout, stderr := program.Shell(t.Context(), "freeze", "--yes", "--server", server.Serve(t))
		if code != command.ExitOK || !strings.HasPrefix(stdout, "the cluster is frozen since") || stderr != "warning: it is not known whether the cluster is frozen: read the freeze: refused\n" {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
	t.Run("says how to do without a server that does not answer", func(t *testing.T) {
		for name, of := range map[string]func(namespace, configMap string) string{"freeze": reconcilerhold.FreezeCommand, "unfreeze": reconcilerhold.UnfreezeCommand} {
			code, _, stderr := program.Shell(t.Context(), name, "--yes", "--timeout", "1s", "--server", "127.0.0.1:1")
			want := of(deploy.Namespace, contract.DefaultNames.Freeze)
			if code != command.ExitError || !strings.Contains(stderr, "connection refused") || !strings.HasSuffix(stderr, "; kubectl does the same without the server: "+want+"\n") {
				t.Errorf("%s: exit %d, stderr %q", name, code, stderr)
			}
			code, _, stderr = program.Shell(t.Context(), name, "--yes", "--service", "prod/workload-resizer", "--kubeconfig", "/no/one's", "--context", "b")
			want = strings.ReplaceAll(of("prod", contract.DefaultNames.Freeze), "kubectl ", `kubectl --kubeconfig='/no/one'\''s' --context='b' `)
			if code != command.ExitError || !strings.Contains(stderr, "no such file") || !strings.HasSuffix(stderr, "without the server: "+want+"\n") {
				t.Errorf("%s of another context: exit %d, stderr %q, want %q", name, code, stderr, want)
			}
			if help := connect.FreezeCommand(connect.DefaultNamespace); name == "freeze" && help != reconcilerhold.FreezeCommand(deploy.Namespace, contract.DefaultNames.Freeze) {
				t.Errorf("the help has %s", help)
			}
		}
	})
	t.Run("is reported with the list of holds", func(t *testing.T) {
		code, stdout, stderr := program.Shell(t.Context(), "holds", "--server", holding{holds: cmdtest.Held(), freeze: freezeByAnn()}.serve(t))
		if code != command.ExitOK || stdout == "" || !strings.HasPrefix(stderr, "the cluster is frozen since 2026-11-21T01:02:03Z, by ann: outage\n") {
			t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
		}
	})
}
