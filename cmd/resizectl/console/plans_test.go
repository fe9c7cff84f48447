package console

import (
	"context"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// TestPlansHaveAsLongEach checks that plans with assumptions have as long as those that they are compared with: each looks at all pods.
func TestPlansHaveAsLongEach(t *testing.T) {
	const slow = time.Second
	deadlines := make(chan time.Time, 2)
	server := cmdtest.Answering(scripted(), cmdtest.OnStream(func(ctx context.Context, _ *workloadresizerv1.PreviewPlansRequest, send func(*workloadresizerv1.PreviewPlansResponse) error) error {
		deadline, _ := ctx.Deadline()
		deadlines <- deadline
		time.Sleep(slow)
		return send(cmdtest.SummaryMessage(&workloadresizerv1.PlanSummary{Pods: 1}))
	}))
	start(t, server.Serve(t)).get("/plans?plan=1&ratios=n4%3D1.1")
	if without, with := <-deadlines, <-deadlines; without.IsZero() || with.Sub(without) < slow/2 {
		t.Errorf("the second plans must end at %s, %s after the first", with, with.Sub(without))
	}
}
