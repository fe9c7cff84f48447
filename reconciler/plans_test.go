package reconciler

import (
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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

// outcomes is how often a reason was told.
func outcomes(t testing.TB, from prometheus.Gatherer, reason contract.Reason) float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == "workload_resizer_outcomes_total" && (reason == "" || m.GetLabel()[0].GetValue() == string(reason)) {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}
