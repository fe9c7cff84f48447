package resizes

import (
	"slices"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Message returns the message of a resize.
func Message(r *query.Resized) *workloadresizerv1.Resize {
	m := &workloadresizerv1.Resize{
		Namespace: r.Pod.Namespace, Pod: r.Pod.Name, Uid: string(r.UID), Node: r.Node, NodeType: r.NodeType,
		ApplyTime: values.Timestamp(r.Applied), State: states[r.State], Message: r.Message,
		Containers: make([]*workloadresizerv1.ResizedContainer, len(r.Containers)),
	}
	if r.Workload != (workload.Workload{}) {
		m.Workload = &workloadresizerv1.Workload{Kind: r.Workload.Kind, Name: r.Workload.Name}
	}
	for i := range r.Containers {
		c := &r.Containers[i]
		m.Containers[i] = &workloadresizerv1.ResizedContainer{Name: c.Name, Original: values.Resources(c.Original), Spec: values.Resources(c.Spec), Sidecar: c.Sidecar, Demands: values.Quantities(c.Demanded[sizing.CPU.Index], c.Demanded[sizing.Memory.Index])}
		if c.Told {
			m.Containers[i].Actual = values.Resources(c.Actual)
		}
	}
	return m
}

var states = [...]workloadresizerv1.ResizeState{
	query.Actuated:   workloadresizerv1.ResizeState_RESIZE_STATE_ACTUATED,
	query.Pending:    workloadresizerv1.ResizeState_RESIZE_STATE_PENDING,
	query.InProgress: workloadresizerv1.ResizeState_RESIZE_STATE_IN_PROGRESS,
	query.Deferred:   workloadresizerv1.ResizeState_RESIZE_STATE_DEFERRED,
	query.Infeasible: workloadresizerv1.ResizeState_RESIZE_STATE_INFEASIBLE,
	query.Failed:     workloadresizerv1.ResizeState_RESIZE_STATE_FAILED,
}

// inState reports whether a resize has one of the states; an empty list stands for all
// states.
func inState(r *query.Resized, wanted []workloadresizerv1.ResizeState) bool {
	return len(wanted) == 0 || slices.Contains(wanted, states[r.State])
}
