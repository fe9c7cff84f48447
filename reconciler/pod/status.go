package pod

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Condition describes what the kubelet reports about the resize to the pod's spec.
type Condition struct {
	// Code is ResizeInfeasible, ResizeError, ResizeDeferred or ResizeInProgress.
	Code contract.Reason
	// Message is the kubelet's message.
	Message string
	// Since is the last transition time of the condition.
	Since time.Time
	// Generationless means that the condition has no observedGeneration. Kubelets before
	// Kubernetes 1.34 do not set it.
	Generationless bool
}

// conditionsOf returns the conditions that concern the current spec.
func conditionsOf(pod *corev1.Pod, p *Pod) (all []Condition) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		code := codeOf(c)
		if code == "" || c.Status != corev1.ConditionTrue || beforeSpec(pod, c) || c.Type == corev1.PodResizePending && p.allocates() {
			continue
		}
		all = append(all, Condition{code, Bounded(c.Message), c.LastTransitionTime.Time, c.ObservedGeneration == 0})
	}
	return all
}

// codeOf returns the reason code for a condition; empty if it does not concern a resize.
func codeOf(c *corev1.PodCondition) contract.Reason {
	switch {
	case c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible:
		return contract.ResizeInfeasible
	case c.Type == corev1.PodResizePending:
		return contract.ResizeDeferred
	case c.Type == corev1.PodResizeInProgress && c.Reason == corev1.PodReasonError:
		return contract.ResizeError
	case c.Type == corev1.PodResizeInProgress:
		return contract.ResizeInProgress
	}
	return ""
}

// beforeSpec reports whether a condition is about an earlier spec, and the kubelet has not
// observed the current one. Once it has, all of its conditions apply to the current spec,
// even conditions with an earlier generation: not every change to a spec is a resize, and
// the kubelet does not update a condition that continues.
func beforeSpec(pod *corev1.Pod, c *corev1.PodCondition) bool {
	return c.ObservedGeneration != 0 && c.ObservedGeneration < pod.Generation && pod.Status.ObservedGeneration < pod.Generation
}

// RefusedForGood reports whether the pod's node has permanently refused its sizes. Like the
// scheduler, it also counts a refusal of an earlier spec.
func (p *Pod) RefusedForGood() bool { return p.is(refusedForGood) }

// refused computes the result of RefusedForGood.
func refused(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

// Actuated reports whether the containers run with the sizes in the pod's spec, as far as
// the kubelet reports it.
func (p *Pod) Actuated() bool {
	return len(p.Conditions()) == 0 && !p.is(specUnseen) && p.is(runsSpec)
}

// running reports whether each running container runs with the sizes in its spec. It ignores
// terminated containers, and containers whose sizes the kubelet does not report, as old
// kubelets do not.
func (p *Pod) running() bool {
	for i := range p.Containers {
		c := &p.Containers[i]
		if with, told := c.Running(); c.facts&runs != 0 && told && with != c.Spec {
			return false
		}
	}
	return true
}

// allocates reports whether the kubelet has allocated the sizes in the pod's spec, and runs
// the containers with the limits in the spec. Then no resize is pending, and a pending
// condition is stale, for example because the kubelet was restarted.
func (p *Pod) allocates() bool {
	told := false
	for i := range p.Containers {
		c := &p.Containers[i]
		if c.facts&setAside == 0 {
			continue
		}
		told = true
		if c.Allocated() != c.Spec {
			return false
		}
	}
	return told
}

// readStatus reads what the kubelet reports about a container; s is nil if it reports
// nothing.
func (c *Container) readStatus(s *corev1.ContainerStatus) {
	if s == nil {
		return
	}
	if s.State.Running != nil {
		c.facts |= runs
	}
	if s.Resources == nil {
		return
	}
	c.facts |= reported
	said := status{running: sizing.FromResources(*s.Resources)}
	if s.AllocatedResources != nil {
		c.facts |= setAside
		requests := sizing.FromResources(corev1.ResourceRequirements{Requests: s.AllocatedResources})
		said.allocated.CPU, said.allocated.Memory = requests.CPU.Request, requests.Memory.Request
	}
	if said != c.says() {
		c.status = &said
	}
}

// statusOf returns the status of a container; nil if it has none.
func statusOf(container string, statuses []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == container {
			return &statuses[i]
		}
	}
	return nil
}
