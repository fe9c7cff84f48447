package pod

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Answer is what a node said to a resize that it refuses whatever the amounts are. It
// is kept in an annotation of the pod, so that neither another leader nor a new
// process has all pods of the node ask again.
type Answer struct {
	At time.Time
	// Machine is the kubelet that said so.
	Machine string
	Message string
}

// String is the answer as the annotation has it.
func (a Answer) String() string {
	return a.At.UTC().Format(time.RFC3339) + " " + a.Machine + " " + a.Message
}

// answerOf returns what a pod says of its node; nil if that is nothing. Only what we wrote
// counts, on a pod that we resized: it concerns other pods, and anybody may annotate a pod
// that he creates.
func answerOf(pod *corev1.Pod, h *history) *Answer {
	if !h.answers || h.ours == never || pod.Spec.NodeName == "" {
		return nil
	}
	parts := strings.SplitN(pod.Annotations[contract.Infeasible], " ", 3)
	if len(parts) != 3 {
		return nil
	}
	at, err := time.Parse(time.RFC3339, parts[0])
	if err != nil {
		return nil
	}
	return &Answer{at, parts[1], parts[2]}
}
