package plans

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestWatch(t *testing.T) {
	pause := connect.PollPause
	connect.PollPause = time.Millisecond
	t.Cleanup(func() { connect.PollPause = pause })
	t.Run("prints the plans that have changed", printsThePlansThatHaveChanged)
	t.Run("prints an explanation again when it has changed", printsAnExplanationAgainWhenItHasChanged)
	t.Run("goes on after a server did not answer", goesOnAfterAServerDidNotAnswer)
	t.Run("ends after the timeout", endsAfterTheTimeout)
	t.Run("fails if the first question fails", failsIfTheFirstQuestionFails)
	t.Run("says which pods it waits for", saysWhichPodsItWaitsFor)
	t.Run("explains another pod of a workload when the first one is gone", explainsAnotherPodOfAWorkload)
}

// changing is a server that lists api-0 and web, and from the second question on only web, aligned.
func changing(t *testing.T) (address string) {
	t.Helper()
	asked := &atomic.Int32{}
	aligned := cmdtest.Web()
	aligned.Decision = workloadresizerv1.Decision_DECISION_ALIGNED
	server := cmdtest.Answering(previews(func(*workloadresizerv1.PreviewPlansRequest) []*workloadresizerv1.PreviewPlansResponse {
		plans := []*workloadresizerv1.Plan{cmdtest.Aligned(), cmdtest.Web()}
		if asked.Add(1) > 1 {
			plans = []*workloadresizerv1.Plan{aligned}
		}
		var all []*workloadresizerv1.PreviewPlansResponse
		for _, plan := range plans {
			all = append(all, cmdtest.PlanMessage(plan))
		}
		return append(all, cmdtest.SummaryMessage(&workloadresizerv1.PlanSummary{Pods: int64(len(plans))}))
	}))
	return server.Serve(t)
}

func printsThePlansThatHaveChanged(t *testing.T) {
	for _, tc := range []struct{ output, last string }{
		{"table", "deleted"},
		{"custom-columns=POD:.pod,DECISION:.decision", "api-0" + strings.Repeat(" ", 18) + "DECISION_ALIGNED\n"},
		{"name", "pod/web-6d4cf56db6-x2x7p\npod/api-0\n"},
	} {
		address := changing(t)
		_, stdout, stderr := program.WatchUntil(t, tc.last, "plan", "-n", "shop", "-w", "-o", tc.output, "--server", address)
		if stderr != "" {
			t.Errorf("-o %s: stderr %q", tc.output, stderr)
		}
		if tc.output == "table" {
			cmdtest.Golden(t, "plan-watch.table", stdout)
		}
		lines := map[string]int{"table": 4}[tc.output] // Two containers, twice.
		if n := strings.Count(stdout, "web-6d4cf56db6-x2x7p"); n != max(2, lines) {
			t.Errorf("-o %s: web is shown %d times:\n%s", tc.output, n, stdout)
		}
	}
}

func printsAnExplanationAgainWhenItHasChanged(t *testing.T) {
	before, after := cmdtest.Aligned(), cmdtest.Aligned()
	after.Node = "another-node"
	var asked atomic.Int32
	server := cmdtest.Answering(cmdtest.On(func(*workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.ExplainPodResponse, error) {
		if asked.Add(1) < 4 {
			return &workloadresizerv1.ExplainPodResponse{Explanation: cmdtest.Explained(before)}, nil
		}
		return &workloadresizerv1.ExplainPodResponse{Explanation: cmdtest.Explained(after)}, nil
	}))
	_, stdout, stderr := program.WatchUntil(t, after.GetNode(), "explain", "api-0", "-w", "--server", server.Serve(t))
	if strings.Count(stdout, " 1. Node:") != 2 || stderr != "" {
		t.Errorf("stdout\n%s\nstderr %q", stdout, stderr)
	}
}

func goesOnAfterAServerDidNotAnswer(t *testing.T) {
	asked := 0
	server := cmdtest.Answering(cmdtest.OnStream(func(_ context.Context, _ *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
		asked++
		plan := cmdtest.Aligned()
		if asked > 3 {
			plan = cmdtest.Web()
		}
		if err := send(cmdtest.PlanMessage(plan)); err != nil {
			return err
		}
		if asked == 2 || asked == 3 {
			return cmdtest.WithReason(codes.ResourceExhausted, "TOO_MANY_PREVIEWS", "4 previews are already running")
		}
		return send(cmdtest.SummaryMessage(&workloadresizerv1.PlanSummary{Pods: 1}))
	}))
	_, stdout, stderr := program.WatchUntil(t, "deleted", "plan", "-n", "shop", "-w", "--server", server.Serve(t))
	if stderr != "warning: the watch was interrupted, retrying: 4 previews are already running\n" || !strings.Contains(stdout, "web-6d4cf56db6-x2x7p") {
		t.Errorf("stdout\n%s\nstderr %q", stdout, stderr)
	}
}

func endsAfterTheTimeout(t *testing.T) {
	for timeout := 300 * time.Millisecond; ; timeout *= 2 {
		address := changing(t)
		code, stdout, stderr := program.Shell(t.Context(), "plan", "-n", "shop", "-w", "--timeout", timeout.String(), "--server", address)
		if !strings.Contains(stdout, "modified") && timeout < time.Minute {
			continue // The machine is busy.
		}
		if code != command.ExitOK || stderr != "" || !strings.Contains(stdout, "modified") {
			t.Errorf("exit %d, stdout\n%s\nstderr %q", code, stdout, stderr)
		}
		return
	}
}

func failsIfTheFirstQuestionFails(t *testing.T) {
	busy := cmdtest.WithReason(codes.Unavailable, "CACHE_NOT_READY", "pods are not read yet")
	for _, args := range [][]string{{"plan", "-w"}, {"explain", "web", "-w"}} {
		code, stdout, stderr := program.Shell(t.Context(), append(args, "--server", (&cmdtest.Fake{Err: busy}).Serve(t))...)
		if code != command.ExitError || stdout != "" || !strings.HasPrefix(stderr, "error: pods are not read yet; ") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}

// Without the note, nobody would notice a typo.
func saysWhichPodsItWaitsFor(t *testing.T) {
	for want, args := range map[string][]string{
		"in namespace shop by the name nosuch":  {"nosuch", "-n", "shop"},
		"in namespace shop of deployment/web":   {"deploy/web", "-n", "shop", "-o", "json"},
		"in namespace shop with labels app=web": {"-n", "shop", "-l", "app=web", "-o", "name"},
	} {
		ctx, enough := context.WithCancel(t.Context())
		server, asked := cmdtest.Answering(cmdtest.Plans(&workloadresizerv1.PlanSummary{})), atomic.Int32{}
		server.Asked = func() {
			if asked.Add(1) == 10 { // After the first answer.
				enough()
			}
		}
		_, _, stderr := program.Shell(ctx, append([]string{"plan", "-w", "--server", server.Serve(t)}, args...)...)
		if stderr != "note: no pods found yet "+want+"\n" {
			t.Errorf("%q: stderr %q", args, stderr)
		}
	}
}

func explainsAnotherPodOfAWorkload(t *testing.T) {
	first, second := cmdtest.Aligned(), cmdtest.Aligned()
	first.Pod, second.Pod = "web-1", "web-2"
	var named, chosen atomic.Int32
	server := cmdtest.Answering(cmdtest.On(func(req *workloadresizerv1.ExplainPodRequest) (*workloadresizerv1.ExplainPodResponse, error) {
		plan := first
		switch {
		case req.GetPod() == first.GetPod() && named.Add(1) > 2:
			return nil, status.Error(codes.NotFound, "there is no pod web-1")
		case req.GetPod() == second.GetPod(), req.GetPod() == "" && chosen.Add(1) > 1:
			plan = second
		}
		return &workloadresizerv1.ExplainPodResponse{Explanation: cmdtest.Explained(plan)}, nil
	}))
	_, stdout, stderr := program.WatchUntil(t, "default/web-2 runs on", "explain", "deployment/web", "-w", "--server", server.Serve(t))
	if stderr != "" || !strings.Contains(stdout, "default/web-1 runs on") || named.Load() != 3 {
		t.Errorf("asked %d times for web-1; stdout\n%s\nstderr %q", named.Load(), stdout, stderr)
	}
}
