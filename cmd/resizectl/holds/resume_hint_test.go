package holds

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	reconcilerhold "github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestResumeHint(t *testing.T) {
	t.Run("ends exactly the hold that the server's hint names", endsExactlyTheHoldThatTheServersHintNames)
}

// If the server names a command line, that command ends exactly the hold in the message.
func endsExactlyTheHoldThatTheServersHintNames(t *testing.T) {
	for _, tc := range []struct {
		name string
		by   reconcilerhold.Hold
		want *workloadresizerv1.ResumeRequest
	}{
		{"a pause of the cluster", reconcilerhold.Hold{Kind: reconcilerhold.Pause},
			&workloadresizerv1.ResumeRequest{Scope: cmdtest.Everything, Kind: kinds["pause"]}},
		{"a restore of a namespace", reconcilerhold.Hold{Kind: reconcilerhold.Restore, Scope: reconcilerhold.Scope{Namespace: "shop"}},
			&workloadresizerv1.ResumeRequest{Scope: cmdtest.Shop, Kind: kinds["restore"]}},
		{"a pause of a Deployment", reconcilerhold.Hold{Kind: reconcilerhold.Pause, Scope: reconcilerhold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "Deployment", Name: "web"}}},
			&workloadresizerv1.ResumeRequest{Scope: cmdtest.WorkloadScope("shop", "Deployment", "web"), Kind: kinds["pause"]}},
		{"a breaker of the cluster", reconcilerhold.Hold{Kind: reconcilerhold.Breaker},
			&workloadresizerv1.ResumeRequest{Scope: cmdtest.Everything, Kind: kinds["breaker"]}},
		{"a restore of a third-party kind", reconcilerhold.Hold{Kind: reconcilerhold.Restore, Scope: reconcilerhold.Scope{Namespace: "shop", Workload: workload.Workload{Kind: "Rollout", Name: "web"}}},
			&workloadresizerv1.ResumeRequest{Scope: cmdtest.WorkloadScope("shop", "Rollout", "web"), Kind: kinds["restore"]}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			covered := &reconcilerhold.CoveredError{Scope: reconcilerhold.Scope{Namespace: "shop", Pod: "web-0"}, By: tc.by}
			_, quoted, _ := strings.Cut(covered.Error(), `"resizectl `)
			line, _, named := strings.Cut(quoted, `"`)
			if !named {
				t.Fatalf("%q names no command", covered)
			}
			server := &cmdtest.Fake{}
			args := append(strings.Fields(line), "--yes", "--server", server.Serve(t))
			if code, _, stderr := program.Shell(t.Context(), args...); code != command.ExitOK {
				t.Fatalf("%q: exit %d, %s", args, code, stderr)
			}
			tc.want.Author = connect.Author()
			if diff := cmp.Diff(tc.want, server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("%q ends the wrong hold (-want +got):\n%s", line, diff)
			}
		})
	}
}
