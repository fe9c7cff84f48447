package reconciler

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// somewhere stands for the node of a pod that is yet to be made.
const somewhere = "imagined"

// Imagine plans a pod that is yet to be made as if it ran, alone, on a node of the
// type. The pod is as the API server would create it. The plan names no node.
func (p *Planner) Imagine(pod *corev1.Pod, nodeType string, table *ratios.Table) *Plan {
	running := *pod
	// Nobody has resized it since it was created, so its spec is the original,
	// whatever its annotations say.
	running.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: deeds[creation]}}
	running.Spec.NodeName = somewhere
	running.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	s := &Snapshot{Pod: &running, Table: table}
	s.imagine(nodeType)
	plan := p.Plan(s)
	plan.Node = ""
	return plan
}
