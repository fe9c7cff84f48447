package pod

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Condition is what the kubelet says of a resize that the pod's spec asks for.
type Condition struct {
	// Code is ResizeInfeasible, ResizeError, ResizeDeferred or ResizeInProgress.
	Code contract.Reason
	// Message is the kubelet's.
	Message string
	// Since is since when it says so.
	Since time.Time
	// Generationless says that it does not name the generation that it is about, as
	// kubelets before Kubernetes 1.34 do not.
	Generationless bool
}

// conditionsOf are those that are about the spec as it is.
func conditionsOf(pod *corev1.Pod, p *Pod) (all []Condition) {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		code := codeOf(c)
		if code == "" || c.Status != corev1.ConditionTrue || beforeSpec(pod, c) || c.Type == corev1.PodResizePending && p.allocates() {
			continue
		}
		all = append(all, Condition{code, bounded(c.Message), c.LastTransitionTime.Time, c.ObservedGeneration == 0})
	}
	return all
}

// codeOf is what a condition says of a resize; empty if it is about something else.
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

// beforeSpec reports whether a condition is older than a spec that the kubelet has not
// looked at. Once it has, all that it says is about this spec, also what it
// said of an earlier generation: not every change of a spec is a resize, and it repeats
// nothing that goes on.
func beforeSpec(pod *corev1.Pod, c *corev1.PodCondition) bool {
	return c.ObservedGeneration != 0 && c.ObservedGeneration < pod.Generation && pod.Status.ObservedGeneration < pod.Generation
}

// RefusedForGood reports whether the pod's node has refused its sizes for good. It counts
// whether or not that is about the spec as it is, as the scheduler does.
func (p *Pod) RefusedForGood() bool { return p.is(refusedForGood) }

// refused is what RefusedForGood tells.
func refused(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodResizePending {
			return c.Reason == corev1.PodReasonInfeasible
		}
	}
	return false
}

// Actuated reports whether the containers run with what the pod's spec asks for,
// as far as the kubelet has said.
func (p *Pod) Actuated() bool {
	return len(p.Conditions()) == 0 && !p.is(specUnseen) && p.is(runsSpec)
}

// running tells whether each container that runs does so with what it asks for. An old
// kubelet does not tell, and what has ended does not matter.
func (p *Pod) running() bool {
	for i := range p.Containers {
		c := &p.Containers[i]
		if with, told := c.Running(); c.facts&runs != 0 && told && with != c.Spec {
			return false
		}
	}
	return true
}

// allocates reports whether the kubelet has set aside what the pod's spec asks for, and
// runs its containers with its limits: then nothing is pending, and a condition that
// says so is a leftover, as of a kubelet that was restarted.
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

// readStatus takes over what the kubelet says of a container; nil is nothing.
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

// statusOf returns the status of a container among these, nil if it has none.
func statusOf(container string, statuses []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range statuses {
		if statuses[i].Name == container {
			return &statuses[i]
		}
	}
	return nil
}
