package plans

import (
	"context"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// facts are what an explanation is made from.
type facts struct {
	plan *workloadresizerv1.Plan
	// ratio is that of the node's type, baseline that of the baseline, both as the
	// pod's rule has them; nil if there is none.
	ratio, baseline *workloadresizerv1.Ratio
	bounds          *workloadresizerv1.Bounds
	// otherRevision tells that the ratios have changed since the plan was made.
	otherRevision bool
	// resize is nil if nothing was done.
	resize *workloadresizerv1.Resize
	// holds cover the pod.
	holds []*workloadresizerv1.Hold
	// Why it is not known, nil if it is.
	ratiosErr, resizeErr, holdsErr error
}

// findOut asks for everything. Only a pod without a plan is an error.
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

// findRatios reads the whole table: bounds and the ratios of rules are only there.
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

// coveredBy tells whether a hold covers the pod. Which workload a pod is of only
// the server knows: it is asked for the pod among those of the workload.
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

// restored tells whether the pod is to have its originals instead of what the
// formula says.
func (f *facts) restored() bool {
	for _, hold := range f.holds {
		if hold.GetKind() == workloadresizerv1.HoldKind_HOLD_KIND_RESTORE {
			return true
		}
	}
	return f.because("Restored")
}

// because tells whether the plan has one of the reasons.
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
