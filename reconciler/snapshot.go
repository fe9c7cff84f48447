package reconciler

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// Snapshot is all that a plan is made from. Nothing in it is changed.
type Snapshot struct {
	Pod   *corev1.Pod
	Table *ratios.Table
	// Around is what the pod shares with others; its node is nil if it is not
	// known.
	Around safety.Surroundings
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
}

// Refusal is a size that the pod's node turned out not to be able to give it.
type Refusal struct {
	Reason Reason
	// wanted is the size, as Plan.wanted has it.
	wanted string
	// waiting tells that nothing else is tried yet either.
	waiting bool
}
