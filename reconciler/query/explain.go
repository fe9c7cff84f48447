package query

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Explanation is what explains the size of one pod, all of it at the same time.
type Explanation struct {
	// Pods is how many pods were selected. The explained one is the first of them by name.
	Pods int
	Plan *plan.Plan
	// Resized is how it was sized; nil if it was not.
	Resized *Resized
	// Profile is what the configuration says about it.
	Profile *ratios.Profile
	// Freeze is the freeze of the cluster; nil if there is none. Holds are those that cover the pod, in the order of their
	// precedence.
	Freeze *hold.Freeze
	Holds  []hold.Hold
	// WithoutHolds is the plan without them; nil if nothing holds the pod.
	WithoutHolds *plan.Plan
	// Applied is the plan if all rules applied usage; nil if that of the pod does, or if no rule lets pods share.
	Applied *plan.Plan
}

// Explain explains the first of the selected pods, which are in one namespace; nil if there is none. The error is a
// NotReadyError or that of ctx.
func (q *Queries) Explain(ctx context.Context, of Selection) (*Explanation, error) {
	if err := q.Cluster.Ready(); err != nil {
		return nil, err
	}
	rules := q.rulesFor(PreviewOptions{})
	pods, err := q.selected(ctx, of, rules.Table)
	if err != nil || len(pods) == 0 {
		return nil, err
	}
	found := pods[0]
	e := &Explanation{Pods: len(pods), Profile: rules.Table.Profile(found), Freeze: rules.Holds.Freeze(), Resized: q.resizeOf(found)}
	e.Plan = q.preview(ctx, q.Cluster.Snapshot(found, rules), PreviewOptions{})
	e.Holds = slices.Collect(rules.Holds.Covering(found.Namespace(), found.Name, found.UID, q.Cluster.Owners().Chain(nil, found)...))
	// A pod with its originals may be so for good, although its restore has ended.
	restored := e.Plan.Decision == plan.Skip && e.Plan.Reasons[0].Code == contract.Restored
	if e.Freeze != nil || len(e.Holds) > 0 || restored {
		options := PreviewOptions{WithoutHolds: true}
		e.WithoutHolds = q.preview(ctx, q.Cluster.Snapshot(found, rules), options)
	}
	if q.Applied == nil || e.Plan.FollowsUsage {
		return e, nil
	}
	if options := (PreviewOptions{Table: q.Applied()}); options.Table != nil {
		e.Applied = q.preview(ctx, q.Cluster.Snapshot(found, q.rulesFor(options)), options)
	}
	return e, nil
}
