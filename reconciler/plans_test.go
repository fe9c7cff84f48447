package reconciler

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// alone returns a snapshot of a pod on a node where nothing prevents a resize.
func alone(t testing.TB, p *corev1.Pod, n *corev1.Node) *plan.Snapshot {
	t.Helper()
	return &plan.Snapshot{Pod: pod.From(p), Table: podtest.Table(t), Around: safety.Surroundings{Room: node.Room{Node: n}}}
}

// reasonsOf returns the reason codes of a plan.
func reasonsOf(p *plan.Plan) []contract.Reason {
	var codes []contract.Reason
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// cleans reports whether a plan removes our annotations.
func cleans(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Actions(), func(w plan.Action) bool { return w.Step == plan.StepClean })
}

// outcomes returns how often a reason was reported; any reason if it is empty.
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
