package reconciler

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// progress is what the kubelet says of the resize that the pod's spec asks for.
type progress struct {
	// code is ResizeInfeasible, ResizeError, ResizeDeferred or
	// ResizeInProgress; empty if the kubelet says nothing.
	code contract.Reason
	// message is the kubelet's.
	message string
}

// progressOf reads the pod's conditions. Where there are several, the one that
// most needs somebody to act counts. resized is when we last resized the pod.
func progressOf(pod *corev1.Pod, resized time.Time) progress {
	var p progress
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Status != corev1.ConditionTrue || outdatedCondition(pod, c, resized) {
			continue
		}
		var code contract.Reason
		switch {
		case c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible:
			code = contract.ResizeInfeasible
		case c.Type == corev1.PodResizePending:
			code = contract.ResizeDeferred
		case c.Type == corev1.PodResizeInProgress && c.Reason == corev1.PodReasonError:
			code = contract.ResizeError
		case c.Type == corev1.PodResizeInProgress:
			code = contract.ResizeInProgress
		default:
			continue
		}
		if urgency(code) > urgency(p.code) {
			p = progress{code, c.Message}
		}
	}
	return p
}

// outdatedCondition tells whether a condition is about sizes that the pod was
// resized from since. Kubernetes 1.33 does not say what generation it is about.
func outdatedCondition(pod *corev1.Pod, c *corev1.PodCondition, resized time.Time) bool {
	if c.ObservedGeneration != 0 {
		return c.ObservedGeneration < pod.Generation
	}
	return c.LastTransitionTime.Time.Before(resized.Add(-clockSkew))
}

// clockSkew is by how much a kubelet's clock may be behind the API server's.
const clockSkew = 2 * time.Second

func urgency(code contract.Reason) int {
	switch code {
	case contract.ResizeInProgress:
		return 1
	case contract.ResizeDeferred:
		return 2
	case contract.ResizeError:
		return 3
	case contract.ResizeInfeasible:
		return 4
	}
	return 0
}

// actuated tells whether the containers run with what the pod's spec asks for,
// as far as the kubelet has said.
func actuated(pod *corev1.Pod) bool {
	h := historyOf(pod)
	if progressOf(pod, h.ours).code != "" {
		return false
	}
	if seen := pod.Status.ObservedGeneration; seen != 0 && seen < pod.Generation {
		return false
	}
	return running(pod.Spec.Containers, pod.Status.ContainerStatuses) &&
		running(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
}

// running tells whether each container that runs does so with what it asks for.
func running(containers []corev1.Container, statuses []corev1.ContainerStatus) bool {
	for i := range containers {
		s := safety.StatusOf(containers[i].Name, statuses)
		if s == nil || s.State.Running == nil || s.Resources == nil {
			continue // An old kubelet does not tell, and what has ended does not matter.
		}
		if sizing.FromResources(*s.Resources) != sizing.FromResources(containers[i].Resources) {
			return false
		}
	}
	return true
}

// allocated is what the kubelet has set aside for a container: requests as
// allocated, limits as they are in force. spec is kept where it does not tell.
func allocated(spec sizing.Container, status *corev1.ContainerStatus) sizing.Container {
	set := inForce(spec, status)
	if status == nil || status.Resources == nil || status.AllocatedResources == nil {
		return set
	}
	requests := sizing.FromResources(corev1.ResourceRequirements{Requests: status.AllocatedResources})
	set.CPU.Request, set.Memory.Request = requests.CPU.Request, requests.Memory.Request
	return sizing.Container{CPU: known(spec.CPU, set.CPU), Memory: known(spec.Memory, set.Memory)}
}

// inForce is what a container runs with.
func inForce(spec sizing.Container, status *corev1.ContainerStatus) sizing.Container {
	if status == nil || status.Resources == nil {
		return spec
	}
	set := sizing.FromResources(*status.Resources)
	return sizing.Container{CPU: known(spec.CPU, set.CPU), Memory: known(spec.Memory, set.Memory)}
}

// known keeps of spec what set does not have: a resize can neither add nor
// remove requests or limits.
func known(spec, set sizing.Amount) sizing.Amount {
	if spec.Request == 0 || set.Request == 0 {
		set.Request = spec.Request
	}
	if spec.Limit == 0 || set.Limit == 0 {
		set.Limit = spec.Limit
	}
	return set
}
