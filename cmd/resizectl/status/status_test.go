package status

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func wellStatus() *workloadresizerv1.GetStatusResponse {
	return &workloadresizerv1.GetStatusResponse{
		Replica: "workload-resizer-0", Version: "v1.2.3", StartTime: timestamppb.New(cmdtest.Since), Leading: true,
		Leader: &workloadresizerv1.Leader{
			Identity: "workload-resizer-0", AcquireTime: timestamppb.New(cmdtest.Since.Add(time.Second)), RenewTime: timestamppb.New(cmdtest.Since.Add(time.Hour)),
		},
		RatioRevision: "4b1f", QueueLength: 1, RealignBacklog: 120, Holds: 2, SizesAtCreation: true,
		Pods: []*workloadresizerv1.PodCount{
			{Decision: workloadresizerv1.Decision_DECISION_ALIGNED, Code: "AlreadyAligned", Pods: 900},
			{Decision: workloadresizerv1.Decision_DECISION_RESIZE, Pods: 121},
			{Decision: workloadresizerv1.Decision_DECISION_SKIP, Code: "NotOwned", Pods: 7},
		},
	}
}

func TestStatus(t *testing.T) {
	ill := &workloadresizerv1.GetStatusResponse{
		Replica: "workload-resizer-1", Version: "v1.2.3", StartTime: timestamppb.New(cmdtest.Since), DryRun: true,
		Problems: []string{"ConfigMap workload-resizer-system/workload-resizer-config does not exist", "pods and nodes are not read yet"},
	}
	unrated := wellStatus()
	unrated.NodeTypesWithoutRatio = []*workloadresizerv1.NodeTypeWithoutRatio{{NodeType: "t2d", Nodes: 2, Pods: 12}, {Nodes: 1, Pods: 1}}
	full := wellStatus()
	full.FreedBacklog = 100
	frozen := wellStatus()
	frozen.Freeze = &workloadresizerv1.Freeze{Reason: "outage", Author: "ann", CreateTime: timestamppb.New(cmdtest.Since)}
	degraded := wellStatus()
	degraded.ClusterBreaker = &workloadresizerv1.Hold{Reason: "of the 40 workloads that were resized lately, 7 had resizes that were reverted", CreateTime: timestamppb.New(cmdtest.Since)}
	degraded.NamespaceBreakers, degraded.WorkloadBreakers = 2, 1
	short := wellStatus()
	short.EvictionBacklog, short.OverloadedNodes = 2, 1
	for i := range 12 {
		short.Evictions = append(short.Evictions, &workloadresizerv1.Eviction{
			Namespace: "shop", Pod: fmt.Sprint("web-", 12-i), Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, Node: "node-1", Code: "NodeCapacity",
			EvictTime: timestamppb.New(cmdtest.Since.Add(-time.Duration(i) * time.Minute)),
		})
	}
	emergency := wellStatus()
	emergency.EmergencyRestores = 1
	for _, tc := range []struct {
		golden string
		status *workloadresizerv1.GetStatusResponse
		args   []string
	}{
		{"status.table", wellStatus(), nil},
		{"status.wide", wellStatus(), []string{"-o", "wide"}},
		{"status.json", wellStatus(), []string{"-o", "json"}},
		{"status.yaml", wellStatus(), []string{"-o", "yaml"}},
		{"status-ill.table", ill, nil},
		{"status-without-ratio.table", unrated, nil},
		{"status-full.table", full, nil},
		{"status-short.table", short, nil},
		{"status-frozen.table", frozen, nil},
		{"status-degraded.table", degraded, nil},
		{"status-emergency.table", emergency, nil},
		{"status-ill.color", ill, []string{"--color=always"}},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			address := cmdtest.Answering(cmdtest.Returns(tc.status)).Serve(t)
			code, stdout, stderr := program.Shell(t.Context(), append([]string{"status", "--server", address}, tc.args...)...)
			if code != command.ExitOK || stderr != "" {
				t.Errorf("exit %d, stderr %q", code, stderr)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
}

// TestKinds checks which lines need a person.
func TestKinds(t *testing.T) {
	never := print.ColorMode("never")
	breaker := &workloadresizerv1.Hold{Reason: "of the 40 workloads that were resized lately, 7 had resizes that were reverted"}
	for _, tc := range []struct {
		status *workloadresizerv1.GetStatusResponse
		alarms string
	}{
		{wellStatus(), ""},
		{&workloadresizerv1.GetStatusResponse{Freeze: &workloadresizerv1.Freeze{Reason: "outage"}}, "frozen"},
		{&workloadresizerv1.GetStatusResponse{ClusterBreaker: breaker, WorkloadBreakers: 1}, "degraded degraded"},
		{&workloadresizerv1.GetStatusResponse{EmergencyRestores: 1, EvictionBacklog: 2, OverloadedNodes: 1}, "restore no room overload"},
		{&workloadresizerv1.GetStatusResponse{Problems: []string{"pods and nodes are not read yet"}, NodeTypesWithoutRatio: []*workloadresizerv1.NodeTypeWithoutRatio{{NodeType: "t2d"}}}, "problem problem"},
	} {
		var alarms, counts []string
		for _, line := range Lines(&print.Output{Color: &never, Commands: func(text string) string { return text }}, tc.status) {
			switch line.Kind {
			case Alarm:
				alarms = append(alarms, line.Name)
			case Count:
				counts = append(counts, line.Name)
			case Fact:
			}
		}
		want := "queue holds problems"
		if strings.Contains(tc.alarms, "problem") {
			want = "queue holds"
		}
		if got := strings.Join(alarms, " "); got != tc.alarms || strings.Join(counts, " ") != want {
			t.Errorf("%v: the alarms are %q, want %q; the counts are %q, want %q", tc.status, got, tc.alarms, counts, want)
		}
	}
}

func TestStatusRules(t *testing.T) {
	t.Run("reports a refusal", reportsARefusal)
	t.Run("prints the state again when it has changed", printsTheStateAgainWhenItHasChanged)
}

func printsTheStateAgainWhenItHasChanged(t *testing.T) {
	pause := connect.PollPause
	connect.PollPause = time.Millisecond
	t.Cleanup(func() { connect.PollPause = pause })
	var asked atomic.Int32
	server := cmdtest.Answering(cmdtest.On(func(*workloadresizerv1.GetStatusRequest) (*workloadresizerv1.GetStatusResponse, error) {
		now := wellStatus()
		if asked.Add(1) > 3 {
			now.Version = "v1.2.4"
		}
		return now, nil
	}))
	_, stdout, stderr := program.WatchUntil(t, "v1.2.4", "status", "--watch", "--server", server.Serve(t))
	if strings.Count(stdout, "v1.2.3") != 1 || stderr != "" {
		t.Errorf("stdout\n%s\nstderr %q", stdout, stderr)
	}
}

func reportsARefusal(t *testing.T) {
	server := &cmdtest.Fake{Err: cmdtest.WithReason(codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "ann may not get status")}
	code, stdout, stderr := program.Shell(t.Context(), "status", "--server", server.Serve(t), "--color=always")
	if code != command.ExitError || stdout != "" {
		t.Errorf("exit %d, stdout %q", code, stdout)
	}
	cmdtest.Golden(t, "status-refused.color", stderr)
}
