package statuswriter

import corev1 "k8s.io/api/core/v1"

// Result is how far a resize gets.
type Result string

const (
	// Actuated is a complete resize: allocatedResources and resources of the containers'
	// statuses equal the spec.
	Actuated Result = ""
	// InProgress is a resize that is allocated but not complete. It may never complete.
	InProgress Result = "InProgress"
	// Error is a resize that is allocated but cannot be completed.
	Error Result = corev1.PodReasonError
	// Deferred is a resize that waits for room on the node. It is not allocated.
	Deferred Result = corev1.PodReasonDeferred
	// Infeasible is a resize that will never be allocated on the node.
	Infeasible Result = corev1.PodReasonInfeasible
)

// Outcome is the result of a resize that a node reports.
type Outcome struct {
	Result Result
	// Message is the message of the condition, unless the result is Actuated. messages.go
	// has the messages of kubelets.
	Message string
}

// allocates reports whether allocatedResources of the containers change to the spec.
func (o Outcome) allocates() bool { return o.Result != Deferred && o.Result != Infeasible }

// actuates reports whether resources of the containers change to the spec.
func (o Outcome) actuates() bool { return o.Result == Actuated }

// conditions returns the pod's conditions with the kubelet's report about the outcome of the
// resize to the sizes of a generation. A resize in progress stays in progress while another
// resize waits.
func (o Outcome) conditions(conditions []corev1.PodCondition, k kubelet, generation int64) []corev1.PodCondition {
	if !o.allocates() {
		return withCondition(conditions, k.condition(corev1.PodResizePending, string(o.Result), o.Message, generation), k.now())
	}
	conditions = withoutCondition(conditions, corev1.PodResizePending)
	if o.actuates() {
		return withoutCondition(conditions, corev1.PodResizeInProgress)
	}
	reason := ""
	if o.Result == Error {
		reason = corev1.PodReasonError
	}
	return withCondition(conditions, k.condition(corev1.PodResizeInProgress, reason, o.Message, generation), k.now())
}
