package statuswriter

import corev1 "k8s.io/api/core/v1"

// Result is how far a resize gets.
type Result string

const (
	// Actuated is a resize that is done: allocatedResources and resources of
	// the containers' statuses are the spec's.
	Actuated Result = ""
	// InProgress is one that is allocated and not done yet, if ever.
	InProgress Result = "InProgress"
	// Error is one that is allocated and cannot be done.
	Error Result = corev1.PodReasonError
	// Deferred is one that waits for room on the node; it is not allocated.
	Deferred Result = corev1.PodReasonDeferred
	// Infeasible is one that will never be allocated on the node.
	Infeasible Result = corev1.PodReasonInfeasible
)

// Outcome is what a node says of a resize.
type Outcome struct {
	Result Result
	// Message is the condition's, for what is not Actuated; messages.go has those
	// of kubelets.
	Message string
}

// allocates says whether the containers' allocatedResources become the spec's.
func (o Outcome) allocates() bool { return o.Result != Deferred && o.Result != Infeasible }

// actuates says whether the containers' resources become the spec's.
func (o Outcome) actuates() bool { return o.Result == Actuated }

// conditions returns those of the pod with what its kubelet says of the outcome of the
// resize to the sizes of a generation. What was in progress still is while another
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
