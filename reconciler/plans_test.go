package reconciler

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// alone is a pod on a node where nothing stands in the way.
func alone(t testing.TB, p *corev1.Pod, n *corev1.Node) *plan.Snapshot {
	t.Helper()
	return &plan.Snapshot{Pod: pod.From(p), Table: podtest.Table(t), Around: safety.Surroundings{Node: n}}
}

// planOfSized is the plan of a pod whose first write is a resize: its originals are there.
func planOfSized(t testing.TB) *plan.Plan {
	t.Helper()
	p := podtest.Pod(podtest.Amounts{"800m", "800m", "1Gi", "1Gi"}, podtest.SizedForN4, podtest.AsResized)
	return (&plan.Planner{OwnerKinds: plan.DefaultOwnerKinds}).Plan(alone(t, p, podtest.Node("big")))
}

// reasonsOf are why a plan is as it is.
func reasonsOf(p *plan.Plan) []contract.Reason {
	var codes []contract.Reason
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// cleans reports whether a plan removes what tells of us.
func cleans(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Writes(time.Now()), func(w plan.Write) bool { return w.Step == plan.StepClean })
}
