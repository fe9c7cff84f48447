package check

import (
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// test/e2e checks the rights of real callers.
func TestCaller(t *testing.T) {
	refused := cmdtest.WithReason(codes.PermissionDenied, "NOT_AUTHORIZED", "ann cannot do that")
	seeing := func(incomplete bool) *cmdtest.Fake {
		return cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{Incomplete: incomplete}))
	}
	for _, tc := range []struct {
		name   string
		server *cmdtest.Fake
		check  string
		level  Level
		text   string
	}{
		{"everything", seeing(false), "caller-changes", OK, "you may set ratios, pause pods, restore pods and freeze the cluster"},
		{"nothing", &cmdtest.Fake{Err: refused}, "caller-changes", OK, "you may not set ratios, pause pods, restore pods or freeze the cluster"},
		{"no pods", &cmdtest.Fake{Err: refused}, "caller-pods", Warning, "ann cannot do that"},
		{"some pods", seeing(true), "caller-pods", Warning, "only the pods in some namespaces"},
		{"all pods", seeing(false), "caller-pods", OK, "the pods in all namespaces"},
		{"a server that is gone", &cmdtest.Fake{Err: cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "pods are not read yet")}, "caller-changes", Warning, "not checked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := &cobra.Command{Use: "resizectl"}
			s := on("v1.36.3")
			s.table = cmdtest.Ratios()
			s.server = connect.New(root, t.Output(), "test", false)
			if err := root.PersistentFlags().Set("server", tc.server.Serve(t)); err != nil {
				t.Fatal(err)
			}
			has(t, s.caller(t.Context()), tc.check, tc.level, tc.text)
		})
	}
}
