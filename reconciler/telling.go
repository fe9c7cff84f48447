package reconciler

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// written tells of a plan that was carried out: one line in the log, whatever there
// is to say of it.
func (r *Reconciler) written(ctx context.Context, plan *Plan, took time.Duration) {
	said := plan.outcome()
	r.loggerOf(ctx, plan).Info(plan.deed(said), "containers", plan.describe(), "baseline", plan.Baseline, "reasons", codesOf(said), "patchMillis", took.Milliseconds())
	for _, reason := range said {
		if plan.kind != putBack || r.ledger.news(plan.Pod, plan.UID, reason) {
			r.announce(ctx, plan, reason)
		}
	}
}

func codesOf(said []Reason) []contract.Reason {
	codes := make([]contract.Reason, len(said))
	for i := range said {
		codes[i] = said[i].Code
	}
	return codes
}

// announce says something of a pod in metrics, an event and its trace; the log has
// it already.
func (r *Reconciler) announce(ctx context.Context, plan *Plan, said Reason) {
	r.metrics.outcome(said.Code)
	visitOf(ctx).tell(ctx, plan, said)
	r.Events.pod(plan.Pod, plan.UID, said)
}

// loggerOf has what every line of the log about a pod begins with.
func (r *Reconciler) loggerOf(ctx context.Context, plan *Plan) klog.Logger {
	return klog.FromContext(ctx).WithValues("pod", plan.Pod, "uid", plan.UID, "node", plan.Node, "nodeType", plan.NodeType)
}
