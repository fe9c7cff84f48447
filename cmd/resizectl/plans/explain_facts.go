package plans

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/resizes"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// facts are what an explanation is built from.
type facts struct {
	plan *workloadresizerv1.Plan
	// ratio is the ratio of the node's type, baseline the ratio of the baseline, both
	// by the rule of the pod; nil if there is none.
	ratio, baseline *workloadresizerv1.Ratio
	bounds          *workloadresizerv1.Bounds
	// sources are the sources of ratios.
	sources []*workloadresizerv1.RatioSource
	// otherRevision means that the ratios have changed since the plan was made.
	otherRevision bool
	// resize is nil if nothing was done.
	resize *workloadresizerv1.Resize
	// holds are the holds that cover the pod.
	holds []*workloadresizerv1.Hold
	// resumed is the plan without the freeze and the holds; nil if none covers the pod.
	resumed *workloadresizerv1.Plan
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
	if err := f.findResumed(ctx, c); err != nil {
		return nil, err
	}
	return f, nil
}

// findResumed plans the pod as if nothing held it, if something does.
func (f *facts) findResumed(ctx context.Context, c *client.Client) error {
	if f.freeze == nil && len(f.holds) == 0 && !f.because(heldReasons...) {
		return nil
	}
	plan, err := c.PreviewPod(ctx, f.plan.GetNamespace(), f.plan.GetPod(), client.Assuming(&workloadresizerv1.WhatIf{WithoutHolds: true}))
	if err != nil {
		return err
	}
	if reasons := plan.GetReasons(); len(reasons) > 0 && slices.Contains(heldReasons, reasons[0].GetCode()) {
		return nil // An older server does not know the assumption.
	}
	f.resumed = plan
	return nil
}

// heldReasons are the reasons of pods that a freeze or a hold covers.
var heldReasons = []string{"Frozen", "Paused", "Degraded", "Restored"}

// findRatios reads the ratios of the node type and of the baseline, by the rule of the pod, and
// the bounds.
func (f *facts) findRatios(ctx context.Context, c *client.Client) {
	if f.bounds, f.ratiosErr = f.findBounds(ctx, c); f.ratiosErr != nil {
		return
	}
	if f.ratio, f.ratiosErr = f.findRatio(ctx, c, f.plan.GetNodeType()); f.ratiosErr != nil {
		return
	}
	f.baseline, f.ratiosErr = f.findRatio(ctx, c, f.plan.GetBaselineNodeType())
}

// findRatio returns the ratio of a node type; nil if there is none.
func (f *facts) findRatio(ctx context.Context, c *client.Client, nodeType string) (*workloadresizerv1.Ratio, error) {
	if nodeType == "" {
		return nil, nil
	}
	response, err := c.Ratios().GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType, Rule: f.plan.GetRule()})
	switch client.Reason(err) {
	case "NODE_TYPE_UNKNOWN":
		return nil, nil
	case "RULE_UNKNOWN":
		f.otherRevision = true
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.compareRevision(response.GetRevision())
	return response.GetRatio(), nil
}

// findBounds returns the bounds of the pod: those of its rule, and the global ones where the rule
// sets none. It also finds the sources.
func (f *facts) findBounds(ctx context.Context, c *client.Client) (*workloadresizerv1.Bounds, error) {
	// Every page has the bounds.
	table, err := c.Ratios().ListRatios(ctx, &workloadresizerv1.ListRatiosRequest{PageSize: 1})
	if err != nil {
		return nil, err
	}
	f.compareRevision(table.GetRevision())
	f.sources = table.GetSources()
	bounds := table.GetBounds()
	if f.plan.GetRule() == "" {
		return bounds, nil
	}
	rules, err := c.ListRatioRules(ctx)
	if err != nil {
		return nil, err
	}
	f.compareRevision(rules.GetRevision())
	for _, rule := range rules.GetRules() {
		if rule.GetName() == f.plan.GetRule() {
			bounds = &workloadresizerv1.Bounds{
				Cpu:    replaced(bounds.GetCpu(), rule.GetBounds().GetCpu()),
				Memory: replaced(bounds.GetMemory(), rule.GetBounds().GetMemory()),
			}
		}
	}
	return bounds, nil
}

// replaced returns a range of which a rule replaces or, with "0", removes the ends that it sets.
func replaced(global, rule *workloadresizerv1.QuantityRange) *workloadresizerv1.QuantityRange {
	end := func(global, rule string) string {
		switch rule {
		case "":
			return global
		case "0":
			return ""
		}
		return rule
	}
	return &workloadresizerv1.QuantityRange{Min: end(global.GetMin(), rule.GetMin()), Max: end(global.GetMax(), rule.GetMax())}
}

// compareRevision notes whether an answer is about other ratios than the plan.
func (f *facts) compareRevision(revision string) {
	f.otherRevision = f.otherRevision || revision != f.plan.GetRatioRevision()
}

func (f *facts) findResize(ctx context.Context, c *client.Client) {
	resize, err := c.GetResize(ctx, f.plan.GetNamespace(), f.plan.GetPod())
	if err != nil && client.Reason(err) != "NOT_RESIZED" {
		f.resizeErr = err
	}
	f.resize = resize
}

func (f *facts) findHolds(ctx context.Context, c *client.Client) {
	response, err := c.ListHolds(ctx, f.plan.GetNamespace())
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
	if namespace := print.ScopeNamespace(scope); namespace != "" && namespace != f.plan.GetNamespace() {
		return false, nil
	}
	if pod := scope.GetPod(); pod != nil {
		return pod.GetName() == f.plan.GetPod() && hold.GetUid() == f.plan.GetUid(), nil
	}
	workload := scope.GetWorkload()
	if workload == nil {
		return true, nil
	}
	stream := c.PreviewSelected(ctx, &workloadresizerv1.PreviewPlansRequest{
		Namespace: f.plan.GetNamespace(), Pod: f.plan.GetPod(), Workload: &workloadresizerv1.Workload{Kind: workload.GetKind(), Name: workload.GetName()},
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
	return slices.ContainsFunc(f.plan.GetReasons(), func(r *workloadresizerv1.PlanReason) bool { return slices.Contains(codes, r.GetCode()) })
}

// stays reports whether a resource may stay as it is although its size was computed.
func (f *facts) stays() bool {
	return slices.ContainsFunc(f.plan.GetReasons(), func(r *workloadresizerv1.PlanReason) bool { return resizes.Stays(r.GetCode()) })
}
