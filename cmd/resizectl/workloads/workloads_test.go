package workloads

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	resize  = workloadresizerv1.Decision_DECISION_RESIZE
	aligned = workloadresizerv1.Decision_DECISION_ALIGNED
	skip    = workloadresizerv1.Decision_DECISION_SKIP
)

func both(cpu, memory string) *workloadresizerv1.ResourceAmounts {
	return &workloadresizerv1.ResourceAmounts{Cpu: cpu, Memory: memory}
}

func count(decision workloadresizerv1.Decision, code string, pods int64) *workloadresizerv1.PodCount {
	return &workloadresizerv1.PodCount{Decision: decision, Code: code, Pods: pods}
}

func of(kind, name string) *workloadresizerv1.Workload {
	return &workloadresizerv1.Workload{Kind: kind, Name: name}
}

// all returns workloads whose pods have one decision and several, whose usage is known of all pods, of some and of none,
// and pods that count for no workload.
func all() *workloadresizerv1.ListWorkloadsResponse {
	return &workloadresizerv1.ListWorkloadsResponse{Currency: "USD", Workloads: []*workloadresizerv1.WorkloadSummary{
		{
			Savings:     &workloadresizerv1.Savings{Namespace: "default", Workload: of("Deployment", "web"), Pods: 3, Authored: both("3300m", "6Gi"), Requested: both("2125m", "6Gi"), Used: both("442m", "1006632960")},
			Recommended: both("814m", "1234567890"),
			Pods:        []*workloadresizerv1.PodCount{count(resize, "", 1), count(resize, "BoundsClamped", 1), count(aligned, "AlreadyAligned", 1)},
		},
		{
			Savings:     &workloadresizerv1.Savings{Namespace: "shop", Workload: of("Rollout", "cart"), Pods: 2, UnknownPods: new(int64(2)), Authored: both("2", "2Gi"), Requested: both("2", "2Gi"), Used: both("0", "0")},
			Recommended: both("0", "0"),
			Pods:        []*workloadresizerv1.PodCount{count(skip, "UnknownNodeType", 2)},
		},
		{
			Savings:     &workloadresizerv1.Savings{Namespace: "shop", Workload: of("StatefulSet", "db"), Pods: 3, UnknownPods: new(int64(1)), Authored: both("1500m", "24Gi"), Requested: both("2500m", "32Gi"), Used: both("1600m", "20Gi"), Reverts: new(int64(2)), OomKills: new(int64(1))},
			Recommended: both("2", "24Gi"),
			Pods:        []*workloadresizerv1.PodCount{count(aligned, "AlreadyAligned", 2), count(skip, "Reverted\x1b[31m", 1)},
			Throttled:   2,
		},
		{
			Savings: &workloadresizerv1.Savings{Namespace: "shop", Pods: 1, UnknownPods: new(int64(1)), Authored: both("100m", "128Mi"), Requested: both("100m", "128Mi")},
			Pods:    []*workloadresizerv1.PodCount{count(skip, "NotOwned", 1)},
		},
		// A Job whose pods have finished.
		{Savings: &workloadresizerv1.Savings{Namespace: "shop", Workload: of("Job", "seed"), Authored: both("0", "0"), Requested: both("0", "0")}},
	}}
}

func TestList(t *testing.T) {
	t.Run("prints what was asked for", printsWhatWasAskedFor)
	t.Run("asks for what is selected", asksForWhatIsSelected)
	t.Run("reports whether there are more", saysIfThereAreMore)
	t.Run("says that nothing was found", saysThatNothingWasFound)
	t.Run("says of how many pods the usage is unknown", saysOfHowManyPodsTheUsageIsUnknown)
	t.Run("rejects what is no workload", rejectsWhatIsNoWorkload)
}

func printsWhatWasAskedFor(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Pages(2, all())).Serve(t)
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"workloads.table", nil},
		{"workloads-all.table", []string{"-A"}},
		{"workloads-all.wide", []string{"-A", "-o", "wide"}},
		{"workloads-all.color", []string{"-A", "--color", "always"}},
		{"workloads.json", []string{"-A", "-o", "json"}},
		{"workloads.yaml", []string{"-A", "-o", "yaml"}},
		{"workloads.name", []string{"-A", "-o", "name"}},
		{"workloads-sorted.table", []string{"-A", "--sort-by", ".savings.requested.memory"}},
		{"workloads.columns", []string{"-A", "-o", "custom-columns=NAME:.savings.workload.name,PODS:.savings.pods"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, _ := program.Shell(t.Context(), append([]string{"workloads", "list", "--server", address}, tc.args...)...)
			if code != command.ExitOK {
				t.Errorf("exit %d", code)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

func asksForWhatIsSelected(t *testing.T) {
	server := cmdtest.Answering()
	address := server.Serve(t)
	type request = workloadresizerv1.ListWorkloadsRequest
	for _, tc := range []struct {
		line string
		want *request
	}{
		{"", &request{Namespace: "default", PageSize: 5000}},
		{"-n shop -l app=web", &request{Namespace: "shop", LabelSelector: "app=web", PageSize: 5000}},
		{"-A --decision skip --reason NotOwned", &request{Decision: skip, Code: "NotOwned", PageSize: 5000}},
		{"-A --order-by pods --limit 7", &request{OrderBy: "pods", PageSize: 7}},
		{"deploy/web", &request{Namespace: "default", Workload: of("Deployment", "web"), PageSize: 5000}},
		{"shop/Rollout/cart", &request{Namespace: "shop", Workload: of("Rollout", "cart"), PageSize: 5000}},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"workloads", "list", "--server", address}, strings.Fields(tc.line)...)...)
		if code != command.ExitOK || stdout != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", tc.line, code, stdout, stderr)
		}
		if diff := cmp.Diff(proto.Message(tc.want), server.LastRequest(), protocmp.Transform()); diff != "" {
			t.Errorf("%q: wrong request (-want +got):\n%s", tc.line, diff)
		}
	}
}

func saysIfThereAreMore(t *testing.T) {
	server := cmdtest.Answering(cmdtest.Pages(2, all()))
	address := server.Serve(t)
	for _, tc := range []struct {
		limit, names, remark string
		calls                int
	}{
		{"3", "deployment/web\nRollout/cart\nstatefulset/db\n", "there are more workloads: --limit 0 lists all\n", 2},
		{"5", "deployment/web\nRollout/cart\nstatefulset/db\nnamespace/shop\njob/seed\n", "", 3},
		{"0", "deployment/web\nRollout/cart\nstatefulset/db\nnamespace/shop\njob/seed\n", "", 3},
	} {
		before := len(server.Requests())
		code, stdout, stderr := program.Shell(t.Context(), "workloads", "list", "-A", "-o", "name", "--limit", tc.limit, "--server", address)
		if calls := len(server.Requests()) - before; code != command.ExitOK || stdout != tc.names || stderr != tc.remark || calls != tc.calls {
			t.Errorf("--limit %s: exit %d, stdout %q, stderr %q, %d calls", tc.limit, code, stdout, stderr, calls)
		}
	}
}

func saysThatNothingWasFound(t *testing.T) {
	address := cmdtest.Answering().Serve(t)
	for _, tc := range []struct{ line, want string }{
		{"-A", "no workloads found that have pods\n"},
		{"-n shop", "no workloads found that have pods in namespace shop\n"},
		{"-n shop --decision resize", "no matching workloads found that have pods in namespace shop\n"},
		{"-A --reason Paused -o name", "no matching workloads found that have pods\n"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"workloads", "list", "--server", address}, strings.Fields(tc.line)...)...)
		if code != command.ExitOK || stdout != "" || stderr != tc.want {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}

func saysOfHowManyPodsTheUsageIsUnknown(t *testing.T) {
	address := cmdtest.Answering(cmdtest.Returns(all())).Serve(t)
	const want = "the usage of 3 of 8 pods is unknown; \"resizectl usage explain WORKLOAD\" shows why\n"
	if _, _, stderr := program.Shell(t.Context(), "workloads", "list", "-A", "--server", address); stderr != want {
		t.Errorf("stderr %q, want %q", stderr, want)
	}
	if _, _, stderr := program.Shell(t.Context(), "workloads", "list", "-A", "-o", "json", "--server", address); stderr != "" {
		t.Errorf("-o json: stderr %q", stderr)
	}
}

func rejectsWhatIsNoWorkload(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"web", "web names no workload: name it as TYPE/NAME, such as deployment/web"},
		{"pod/web", "pod/web names no workload"},
		{"deploy/web -A", "a workload is in one namespace: name it with --namespace instead of --all-namespaces"},
		{"--limit -1", "--limit -1 is negative; use 0 for no limit"},
		{"--decision no", "must be one of resize, aligned, skip"},
	} {
		code, stdout, stderr := program.Shell(t.Context(), append([]string{"workloads", "list", "--server", cmdtest.Nobody(t)}, strings.Fields(tc.line)...)...)
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}
