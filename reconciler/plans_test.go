package reconciler

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// alone is a pod on a node where nothing stands in the way.
func alone(t testing.TB, p *corev1.Pod, n *corev1.Node) *Snapshot {
	t.Helper()
	return &Snapshot{Pod: pod.From(p), Table: table(t), Around: safety.Surroundings{Node: n}}
}

// reasonsOf are why a plan is as it is.
func reasonsOf(p *Plan) []contract.Reason {
	var codes []contract.Reason
	for _, r := range p.Reasons {
		codes = append(codes, r.Code)
	}
	return codes
}

// cleans reports whether a plan removes what tells of us.
func cleans(p *Plan) bool {
	return slices.ContainsFunc(p.Writes(time.Now()), func(w Write) bool { return w.Step == StepClean })
}
