package pod

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Answer is a node's answer to a resize that it refuses for any size. An annotation of the
// pod stores it, so that a new leader or process does not make all pods of the node ask
// again.
type Answer struct {
	At time.Time
	// Machine identifies the kubelet that answered.
	Machine string
	Message string
}

// String returns the answer in the format of the annotation.
func (a Answer) String() string {
	return a.At.UTC().Format(time.RFC3339) + " " + a.Machine + " " + a.Message
}

// answerOf returns the answer of the node that a pod records; nil if there is none. Only an
// answer that we wrote counts, on a pod that we resized: it affects other pods, and users
// may annotate the pods that they create.
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
