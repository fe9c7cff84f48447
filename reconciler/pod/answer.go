package pod

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Answer is an answer to a resize, stored in an annotation of the pod. A node refuses any size: a new
// leader or process must not make all pods of the node ask again. Or the API server did not accept
// what a plan sent: every replica must know.
type Answer struct {
	At time.Time
	// Machine identifies the kubelet that answered, or the API server and the plan.
	Machine string
	Message string
}

// apiServer begins the Machine of an answer of the API server. No version of a kubelet is like it.
const apiServer = "api-server/"

// APIServer returns the Machine of an answer of the API server to the plan with a signature.
func APIServer(plan uint64) string { return fmt.Sprintf("%s%016x", apiServer, plan) }

// AboutPlan returns the signature of the plan that the API server answered; false if a node answered.
func (a *Answer) AboutPlan() (plan uint64, ok bool) {
	if a == nil {
		return 0, false
	}
	text, ok := strings.CutPrefix(a.Machine, apiServer)
	plan, err := strconv.ParseUint(text, 16, 64)
	return plan, ok && err == nil
}

// String returns the answer in the format of the annotation.
func (a Answer) String() string {
	return a.At.UTC().Format(time.RFC3339) + " " + a.Machine + " " + a.Message
}

// answerOf returns the answer that a pod records; nil if there is none. Only an answer that we
// wrote counts. The answer of a node affects other pods, and users may annotate the pods that they
// create, so it counts only on a pod that we resized.
func answerOf(pod *corev1.Pod, h *history) *Answer {
	if !h.answers || pod.Spec.NodeName == "" {
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
	answer := &Answer{at, parts[1], Bounded(parts[2])}
	if _, ok := answer.AboutPlan(); !ok && h.ours == never {
		return nil
	}
	return answer
}
