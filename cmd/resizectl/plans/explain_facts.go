package plans

import (
	"context"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// facts are what an explanation is built from.
type facts struct {
	plan *workloadresizerv1.Plan
	// ratio is the ratio of the node's type, baseline the ratio of the baseline, both
	// by the rule of the pod; nil if there is none.
	ratio, baseline *workloadresizerv1.Ratio
	bounds          *workloadresizerv1.Bounds
	// otherRevision means that the ratios have changed since the plan was made.
	otherRevision bool
	// resize is nil if nothing was done.
	resize *workloadresizerv1.Resize
	// holds are the holds that cover the pod.
	holds []*workloadresizerv1.Hold
	// freeze is nil if the cluster is not frozen.
	freeze *workloadresizerv1.Freeze
	// These say why a fact is not known; nil if it is.
	ratiosErr, resizeErr, holdsErr error
}

// findOut requests everything. Only a missing plan is an error.
func findOut(ctx context.Context, c *client.Client, namespace, pod string) (*facts, error) {
	plan, err := c.PreviewPod(ctx, namespace, pod)
	if err != nil {
		return nil, err
	}
	f := &facts{plan: plan}
	f.findRatios(ctx, c)
	f.findResize(ctx, c)
	f.findHolds(ctx, c)
	return f, nil
}

// findRatios reads the whole table, because only the table has bounds and the ratios of
// rules.
func (f *facts) findRatios(ctx context.Context, c *client.Client) {
	table, err := c.ListRatios(ctx)
	if err != nil {
		f.ratiosErr = err
		return
	}
	ratios := table.GetRatios()
	f.bounds = table.GetBounds()
	for _, rule := range table.GetRules() {
		if rule.GetName() == f.plan.GetRule() {
			ratios, f.bounds = rule.GetRatios(), rule.GetBounds()
		}
	}
	for _, ratio := range ratios {
		if ratio.GetNodeType() == f.plan.GetNodeType() {
			f.ratio = ratio
		}
		if ratio.GetNodeType() == f.plan.GetBaselineNodeType() {
			f.baseline = ratio
		}
	}
	f.otherRevision = table.GetRevision() != f.plan.GetRatioRevision()
}

func (f *facts) findResize(ctx context.Context, c *client.Client) {
	resize, err := c.GetResize(ctx, f.plan.GetNamespace(), f.plan.GetPod())
	if err != nil && client.Reason(err) != "NOT_RESIZED" {
		f.resizeErr = err
	}
	f.resize = resize
}

func (f *facts) findHolds(ctx context.Context, c *client.Client) {
	response, err := c.ListHolds(ctx)
	if err != nil {
		f.holdsErr = err
		return
	}
	f.freeze = response.GetFreeze()
	for _, hold := range response.GetHolds() {
		covers, err := f.coveredBy(ctx, c, hold)
		if err != nil {
			f.holdsErr = err
			return
		}
		if covers {
			f.holds = append(f.holds, hold)
		}
	}
}

// coveredBy reports whether a hold covers the pod. Only the server knows the workload of a
// pod, so coveredBy requests the pod among the pods of the workload.
func (f *facts) coveredBy(ctx context.Context, c *client.Client, hold *workloadresizerv1.Hold) (bool, error) {
	scope := hold.GetScope()
	switch {
	case scope.GetAllNamespaces():
		return true, nil
	case scope.GetNamespace() != f.plan.GetNamespace():
		return false, nil
	case scope.GetPod() != "":
		return scope.GetPod() == f.plan.GetPod() && hold.GetUid() == f.plan.GetUid(), nil
	case scope.GetWorkload() == nil:
		return true, nil
	}
	stream := c.PreviewSelected(ctx, &workloadresizerv1.PreviewPlansRequest{
		Namespace: f.plan.GetNamespace(), Pod: f.plan.GetPod(), Workload: scope.GetWorkload(),
	})
	for _, err := range stream.All() {
		if err != nil {
			return false, err
		}
	}
	return stream.Summary().GetPods() > 0, nil
}

// restored reports whether the pod should have its originals instead of the result of the
// formula.
func (f *facts) restored() bool {
	for _, hold := range f.holds {
		if hold.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_RESTORE {
			return true
		}
	}
	return f.because("Restored")
}

// because reports whether the plan has one of the reasons.
func (f *facts) because(codes ...string) bool {
	for _, reason := range f.plan.GetReasons() {
		for _, code := range codes {
			if reason.GetCode() == code {
				return true
			}
		}
	}
	return false
}
