package holds

import (
	"bufio"
	"context"
	"strings"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/plans"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
	texts := make([]string, len(reasons))
	for i, reason := range reasons {
		texts[i] = print.Reason(reason)
	}
	return strings.Join(texts, "; ")
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
