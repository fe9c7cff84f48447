package usage

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// noon is in the middle of a day that savings are about.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// saved returns savings over some time from noon on.
func saved(namespace string, of *workloadresizerv1.Workload, lasted, known time.Duration) *workloadresizerv1.Savings {
	s := &workloadresizerv1.Savings{
		Namespace: namespace, Workload: of, SinceTime: timestamppb.New(noon), UntilTime: timestamppb.New(noon.Add(lasted)), KnownDuration: durationpb.New(known),
	}
	if known > 0 {
		s.Pods, s.Authored, s.Requested, s.Measured, s.Used, s.Saved = 12, both("10", "20Gi"), both("7500m", "21Gi"), both("7", "20Gi"), both("3100m", "9Gi"), both("2500m", "-1Gi")
		s.AuthoredCost, s.RequestedCost = new(0.5), new(0.375)
	}
	return s
}

// pastServer answers requests for savings over time: with two sums, or with one in total.
func pastServer(currency string) *cmdtest.Fake {
	return cmdtest.Answering(cmdtest.On(func(req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
		whole := req.GetPeriod() == workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_UNSPECIFIED
		total := saved("", nil, 48*time.Hour, 36*time.Hour)
		total.Nodes, total.Allocatable = new(2.5), both("80", "320Gi")
		all := []*workloadresizerv1.Savings{total}
		switch {
		case req.GetNamespace() == "empty":
			all = nil
		case req.GetGroup() == workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE:
			all = []*workloadresizerv1.Savings{saved("bank", nil, 48*time.Hour, 36*time.Hour), saved("shop", nil, 48*time.Hour, 36*time.Hour)}
		case req.GetGroup() == workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD:
			all = []*workloadresizerv1.Savings{saved("shop", webWorkload(), 48*time.Hour, 36*time.Hour)}
			if !whole {
				all = []*workloadresizerv1.Savings{saved("shop", webWorkload(), 24*time.Hour, 6*time.Hour), saved("shop", webWorkload(), 24*time.Hour, 24*time.Hour)}
				all[1].SinceTime, all[1].UntilTime = timestamppb.New(noon.Add(24*time.Hour)), timestamppb.New(noon.Add(48*time.Hour))
			}
			if req.GetWorkload() == nil {
				all = append(all, saved("shop", &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "db"}, 48*time.Hour, 0))
			}
		case !whole:
			second := saved("", nil, 24*time.Hour, 0)
			second.SinceTime, second.UntilTime = timestamppb.New(noon.Add(24*time.Hour)), timestamppb.New(noon.Add(48*time.Hour))
			all = []*workloadresizerv1.Savings{saved("", nil, 24*time.Hour, 45*time.Minute), second}
		}
		return &workloadresizerv1.ListSavingsResponse{Savings: all, Currency: currency}, nil
	}))
}

func TestPast(t *testing.T) {
	const (
		workload  = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_WORKLOAD
		namespace = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_NAMESPACE
		total     = workloadresizerv1.SavingsGroup_SAVINGS_GROUP_TOTAL
		perHour   = workloadresizerv1.SavingsPeriod_SAVINGS_PERIOD_HOUR
	)
	since := timestamppb.New(noon.Add(time.Hour))
	for _, tc := range []struct {
		golden, stderr string
		args           string
		// asked is the last request: that for the total, if there is one.
		asked *workloadresizerv1.ListSavingsRequest
	}{
		{"past-days.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-A --by day", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), Group: total}},
		{"past-days.json", "", "-A --by day -o json", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), Group: total}},
		{"past-hourly.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole hours\n", "-n shop --by hour", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", SinceTime: timestamppb.New(noon), Group: total}},
		{"past-days.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-A --by day --until 2026-11-22T04:00:00Z", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), UntilTime: timestamppb.New(noon.Add(48 * time.Hour)), Group: total}},
		{"past-days.wide", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-A --by day -o wide", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), Group: total}},
		{"past-hours.table", "", "-n shop --by hour -o custom-columns=SINCE:.sinceTime,SAVED:.saved.cpu", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", SinceTime: since, Group: total, Period: perHour}},
		{"past-namespaces.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole hours\n", "-A --by namespace", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), Group: total}},
		{"past-namespaces.name", "", "-A --by namespace -o name", &workloadresizerv1.ListSavingsRequest{SinceTime: since, Group: namespace}},
		{"past-workloads.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-A", &workloadresizerv1.ListSavingsRequest{SinceTime: timestamppb.New(noon), Group: total}},
		{"past-web.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-n shop deployment/web", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Workload: webWorkload(), SinceTime: since, Group: workload}},
		{"past-web-days.table", "from 2026-11-20T12:00Z to 2026-11-22T12:00Z, in whole days\n", "-n shop deployment/web --by day", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Workload: webWorkload(), SinceTime: timestamppb.New(noon), Group: workload}},
		{"past-web-days.yaml", "", "-n shop deployment/web --by day -o yaml", &workloadresizerv1.ListSavingsRequest{Namespace: "shop", Workload: webWorkload(), SinceTime: timestamppb.New(noon), Group: workload}},
	} {
		t.Run(tc.args, func(t *testing.T) {
			server := pastServer("USD")
			args := append([]string{"usage", "savings", "--server", server.Serve(t), "--since", since.AsTime().Format(time.RFC3339)}, strings.Fields(tc.args)...)
			code, stdout, stderr := program.Shell(t.Context(), args...)
			if code != command.ExitOK || stderr != tc.stderr {
				t.Errorf("exit %d, stderr %q, want %q", code, stderr, tc.stderr)
			}
			if diff := cmp.Diff(proto.Message(tc.asked), server.LastRequest(), protocmp.Transform()); diff != "" {
				t.Errorf("wrong request (-want +got):\n%s", diff)
			}
			cmdtest.Golden(t, tc.golden, stdout)
		})
	}
	_, stdout, _ := program.Shell(t.Context(), "usage", "savings", "-A", "--since", "2d", "--server", pastServer("").Serve(t))
	if strings.Contains(stdout, "VALUE") {
		t.Errorf("without prices:\n%s", stdout)
	}
	code, stdout, stderr := program.Shell(t.Context(), "usage", "savings", "-n", "empty", "--since", "2h", "--server", pastServer("").Serve(t))
	if code != command.ExitOK || stdout != "" || stderr != "nothing was counted in that time; the leader counts every minute, and keeps 90 days\n" {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

func TestBadPast(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"--until 1h", "--until needs --since, the time at which to begin"},
		{"--by day", "--by day needs --since"},
		{"--since 2d --by day -o name", "-o name cannot be combined with --by day: days and hours have no names"},
		{"--by hour -A", "--by hour needs --since"},
		{"--since 2d -l app=web", "--selector cannot be combined with --since"},
		{"--since 2d --by hour deploy/web", "--by hour cannot be combined with a workload, whose savings are known by day: use --by day"},
		{"--since 2d --by namespace deploy/web", "--by namespace cannot be combined with a workload and --since"},
		{"--since 1h --until 2h", "--until 2h is not after the beginning, 1h"},
		{"--since yesterday", `--since "yesterday" must be ` + command.TimeForm},
		{"--since ", "--since is empty"},
	} {
		args := append([]string{"usage", "savings", "--server", cmdtest.Nobody(t)}, strings.Split(tc.line, " ")...)
		code, stdout, stderr := program.Shell(t.Context(), args...)
		if code != command.ExitError || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %q", tc.line, code, stdout, stderr, tc.want)
		}
	}
}
