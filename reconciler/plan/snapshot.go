package plan

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Snapshot is all that a plan is made from. Nothing in it is changed.
type Snapshot struct {
	Pod *pod.Pod
	// Workloads are what makes the pod, the narrowest first: its controller, what
	// controls that, and so on.
	Workloads []safety.Workload
	Table     *ratios.Table
	// Around is what the pod shares with others; its node is nil if it is not
	// known.
	Around safety.Surroundings
	// NodeType is to be taken for the type of the pod's node, whatever that is;
	// empty for what its labels tell.
	NodeType string
	// Autoscalers finds the HorizontalPodAutoscalers on the pod's workload, for
	// the few pods that are to be resized; nil for none.
	Autoscalers func() []*autoscalingv2.HorizontalPodAutoscaler
	// VPA is the active VerticalPodAutoscaler on the pod's workload, empty if
	// there is none.
	VPA string
	// Paused is why resizing is paused for the pod, empty if it is not.
	Paused string
	// Restore asks for the originals, and for our annotations to go.
	Restore bool
	// Refused is what the node refused before, nil if it did not.
	Refused *Refusal
	// Now is when the plan is made, by which it is known what of a kubelet's words
	// still counts. The zero time is before all of them.
	Now time.Time
	// InfeasibleUntil is how long what Around says is infeasible counts; zero if that
	// is nothing.
	InfeasibleUntil time.Time

	// Settled takes a resize that the node is at for done.
	Settled bool
}

// Imagine makes the snapshot one of a pod on some node of the type, of which
// nothing else is known.
func (s *Snapshot) Imagine(nodeType string) {
	s.NodeType = nodeType
	s.Around.Node, s.Around.Neighbours, s.Around.Infeasible, s.Refused = nil, safety.Resources{}, nil, nil
}

// progress is what the node says of the pod's last resize; another node says
// nothing yet.
func (s *Snapshot) progress() progress {
	if s.NodeType != "" {
		return progress{}
	}
	now := progressOf(s.Pod, s.Now)
	if s.Settled && now.code == contract.ResizeInProgress {
		return progress{}
	}
	return now
}
