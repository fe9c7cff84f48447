package holds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
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

// scopePlans are the plans of all pods to restore.
type scopePlans struct {
	plans   []*workloadresizerv1.Plan
	summary *workloadresizerv1.PlanSummary // nil for a single pod.
}

// left counts the pods that still have to be restored: to be resized or, if they are
// aligned, to lose their annotations.
func (p *scopePlans) left() int {
	n := 0
	for _, plan := range p.plans {
		if plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP {
			n++
		}
	}
	return n
}

func (o *restoreOptions) preview(ctx context.Context, c *client.Client) (*scopePlans, error) {
	if o.Pod() != "" {
		plan, err := c.PreviewPod(ctx, o.namespace, o.Pod(), client.AsRestored())
		return &scopePlans{plans: []*workloadresizerv1.Plan{plan}}, err
	}
	namespace := o.namespace
	if o.allNamespaces {
		namespace = ""
	}
	stream := c.PreviewPlans(ctx, namespace, client.AsRestored(), client.OfWorkload(o.Workload()))
	all := &scopePlans{}
	for plan, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		all.plans = append(all.plans, plan)
	}
	all.summary = stream.Summary()
	return all, nil
}

// needless are the reasons of pods that need no restore: we have changed nothing on them,
// they are being deleted, or they have ended.
var needless = map[string]bool{
	"Restored": true, "Terminating": true, "Finished": true,
}

// unrestored returns why a pod is not restored; empty if it is, or does not need to be. done
// means that it should be restored by now.
func unrestored(plan *workloadresizerv1.Plan, done bool) string {
	reasons := plan.GetReasons()
	switch plan.GetDecision() {
	case workloadresizerv1.Decision_DECISION_ALIGNED, workloadresizerv1.Decision_DECISION_RESIZE:
		if !done {
			return ""
		}
		why := "not done yet"
		if len(reasons) > 0 {
			why += ": " + print.Reason(reasons[0])
		}
		return why
	}
	if len(reasons) == 0 {
		return "the server gave no reason"
	}
	if needless[reasons[0].GetCode()] {
		return ""
	}
	return strings.Join(print.Each(reasons, print.Reason), "; ")
}

// verdict is the beginning of the line about a pod: a skipped pod is one that has its originals
// or cannot get them.
func verdict(plan *workloadresizerv1.Plan) string {
	switch {
	case plan.GetDecision() != workloadresizerv1.Decision_DECISION_SKIP:
		return "is not restored yet"
	case unrestored(plan, false) != "":
		return "is not restored"
	}
	return "is restored"
}

// print prints the plans as "resizectl plan" does.
func (o *restoreOptions) print(found *scopePlans) error {
	if found.summary == nil {
		return plans.PrintOne(&o.Output, found.plans[0], verdict)
	}
	out := bufio.NewWriter(o.Out)
	printer := plans.NewPrinter(out, &o.Output, o.allNamespaces)
	for _, plan := range found.plans {
		if err := printer.Plan(plan); err != nil {
			return err
		}
	}
	if err := printer.Summary(found.summary); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return print.Texts(o.ErrOut, print.Hidden(found.summary.GetIncomplete(), "pods"))
}
