package holds

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const (
	// pollPause is the minimum pause between two questions for the progress. The pause is as long
	// as an answer takes if that is longer, so that a large cluster is not counted all the time.
	pollPause = 250 * time.Millisecond
	// resultTimeout is how long the result may take after the time to wait is up.
	resultTimeout = 10 * time.Second
	// learningTime is how long another replica may take to know a new hold.
	learningTime = 2 * time.Second
)

// errGone means that the pod to restore was deleted, errEnded that its restore has ended.
var (
	errGone  = errors.New("the pod was deleted")
	errEnded = errors.New("the restore has ended")
)

// await waits until nothing is left to restore or the time is up, and returns the plans then. The
// error may be errGone or errEnded.
func (o *restoreOptions) await(ctx context.Context, c *client.Client, hold *workloadresizerv1.Hold) (*scopePlans, error) {
	waitErr := o.awaitProgress(ctx, c, hold)
	if waitErr != nil && !errors.Is(waitErr, errEnded) {
		return nil, waitErr
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), resultTimeout)
		defer cancel()
	}
	plans, err := o.preview(ctx, c)
	switch {
	case o.Pod() != "" && status.Code(err) == codes.NotFound:
		return nil, errGone
	case err != nil:
		return nil, err
	case hold.GetUid() != "" && plans.plans[0].GetUid() != hold.GetUid():
		return nil, fmt.Errorf("%s was replaced by another pod of the same name, which is not restored: run the command again", print.Scope(hold.GetScope()))
	}
	return plans, waitErr
}

// awaitProgress waits until no pod of a hold is pending, or the time is up. The error may be
// errEnded.
func (o *restoreOptions) awaitProgress(ctx context.Context, c *client.Client, hold *workloadresizerv1.Hold) error {
	line := print.NewProgress(o.ErrOut)
	defer line.Clear()
	known, start := false, time.Now()
	for {
		begin := time.Now()
		response, err := c.GetHold(ctx, hold.GetScope(), hold.GetKind())
		switch {
		case err == nil && response.GetProgress().GetPending() == 0:
			return nil
		case err == nil:
			known = true
			pods := response.GetProgress().GetPods()
			line.Of("restoring", pods-response.GetProgress().GetPending(), pods, print.CountOf(pods, "pod"))
		case known && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil
		case client.Reason(err) == "TOO_MANY_PREVIEWS":
			// Other callers count pods now. The restore goes on meanwhile.
		case client.Reason(err) != "HOLD_NOT_FOUND":
			return err
		case known || time.Since(start) > learningTime:
			return errEnded
		}
		select {
		case <-time.After(max(pollPause, time.Since(begin))):
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil
			}
			return ctx.Err()
		}
	}
}
