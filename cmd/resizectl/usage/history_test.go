package usage

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestHistory(t *testing.T) {
	ofDB := &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "db"}, Container: "db"}
	ofSet := &workloadresizerv1.GetUsageHistoryRequest{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "ReplicaSet", Name: "db"}, Container: "db"}
	for _, tc := range []struct {
		golden string
		args   []string
		asked  *workloadresizerv1.GetUsageHistoryRequest
	}{
		{"history.table", []string{"shop/statefulset/db"}, ofDB},
		{"history.table", []string{"shop/db", "-c", "db"}, ofDB},
		{"history-owner.table", []string{"rs/db", "-n", "shop"}, ofSet},
		{"history-owner.table", []string{"rs/db", "-n", "shop", "-c", "db"}, ofSet},
		{"history.wide", []string{"sts/db", "-n", "shop", "-o", "wide"}, ofDB},
		{"history.json", []string{"sts/db", "-n", "shop", "-o", "json"}, ofDB},
		{"history.yaml", []string{"sts/db", "-n", "shop", "-o", "yaml"}, ofDB},
		{"history.go-template", []string{"sts/db", "-n", "shop", "-o", "go-template={{range .nodeTypes}}{{.nodeType}} {{len .cpu}}\n{{end}}"}, ofDB},
		{"history.table", []string{"deploy/web", "-c", "app"}, &workloadresizerv1.GetUsageHistoryRequest{Namespace: "default", Workload: webWorkload(), Container: "app"}},
	} {
		t.Run(strings.Join(append([]string{"usage history"}, tc.args...), " "), func(t *testing.T) {
			server := collected().server()
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "history", "--server", server.Serve(t)}, tc.args...)...)
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

func TestHistoryRules(t *testing.T) {
	t.Run("asks which container if there are several", asksWhichContainerIfThereAreSeveral)
	t.Run("folds buckets without losing a share", foldsBucketsWithoutLosingAShare)
}

func asksWhichContainerIfThereAreSeveral(t *testing.T) {
	address := collected().serve(t)
	for _, tc := range []struct {
		want string
		args []string
	}{
		{"deployment/web in namespace default has 2 containers: set --container to one of app, proxy", []string{"deploy/web"}},
		{"nothing is known of a container of deployment/empty in namespace default: \"resizectl usage sources\" shows what is collected", []string{"deploy/empty"}},
		{"name the workload: resizectl usage history TYPE/NAME; see \"resizectl usage history --help\"", nil},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"usage", "history", "--server", address}, tc.args...)...)
		if code != command.ExitError || stdout != "" || stderr != "error: "+tc.want+"\n" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.args, code, stdout, stderr, tc.want)
		}
	}
}

func foldsBucketsWithoutLosingAShare(t *testing.T) {
	for n := 1; n <= 200; n++ {
		var buckets []*workloadresizerv1.UsageBucket
		for i := range n {
			buckets = append(buckets, &workloadresizerv1.UsageBucket{From: float64(i), To: float64(i + 1), Share: 1})
		}
		rows := histogram("CPU", buckets, coresOf, false).Rows
		folded := fold(buckets, (n+mostBars-1)/mostBars)
		total := 0.0
		for _, b := range folded {
			total += b.GetShare()
		}
		if len(rows) > mostBars || len(rows) != len(folded) || total != float64(n) || folded[0].GetFrom() != 0 || folded[len(folded)-1].GetTo() != float64(n) {
			t.Errorf("%d buckets in %d rows, of which the shares are %v", n, len(rows), total)
		}
	}
}
