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
	// overdue says that it has been in progress for longer than patience.
	overdue bool
	// replanAt is when time alone makes something else of it; zero if it does not.
	replanAt time.Time
}

const (
	// patience is for how long a resize in progress keeps another from being
	// tried. Nodes take seconds; one that hangs must not keep a pod for ever.
	patience = 5 * time.Minute
	// clockSkew is by how much a kubelet's clock may be behind the API server's
	// for its conditions to count at once.
	clockSkew = 2 * time.Second
	// lookedAt is how long after a resize a kubelet has looked at it for certain.
	// What it says then counts, whatever its clock says.
	lookedAt = time.Minute
)

// progressOf reads the pod's conditions at a time. Where there are several, the one
// that most needs somebody to act counts. resized is when we last resized the pod.
func progressOf(pod *corev1.Pod, resized, now time.Time) progress {
	var p progress
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		code := codeOf(c)
		if code == "" || c.Status != corev1.ConditionTrue || beforeSpec(pod, c) || c.Type == corev1.PodResizePending && allocates(pod) {
			continue
		}
		if until := resized.Add(lookedAt); beforeResize(c, resized) && now.Before(until) {
			p.replanAt = until
			continue
		}
		if urgency(code) > urgency(p.code) {
			p.code, p.message = code, c.Message
		}
		if code != contract.ResizeInProgress {
			continue
		}
		// A time to come is that of a clock which nothing follows from.
		if until := c.LastTransitionTime.Add(patience); now.Before(until) && (now.IsZero() || until.Before(now.Add(2*patience))) {
			p.replanAt = until
		} else {
			p.overdue = true
		}
	}
	return p
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

// beforeResize reports whether a condition without a generation, as kubelets before
// Kubernetes 1.34 have them, seems to be older than our last resize.
func beforeResize(c *corev1.PodCondition, resized time.Time) bool {
	return c.ObservedGeneration == 0 && c.LastTransitionTime.Time.Before(resized.Add(-clockSkew))
}

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
	if says(pod).code != "" {
		return false
	}
	if seen := pod.Status.ObservedGeneration; seen != 0 && seen < pod.Generation {
		return false
	}
	return running(pod.Spec.Containers, pod.Status.ContainerStatuses) &&
		running(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
}

// says is what the kubelet says of a resize, as far as that does not depend on when
// it says so.
func says(pod *corev1.Pod) progress { return progressOf(pod, time.Time{}, time.Time{}) }

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

// allocates reports whether the kubelet has set aside what the pod's spec asks for, and
// runs its containers with its limits: then nothing is pending, and a condition that
// says so is a leftover, as of a kubelet that was restarted.
func allocates(pod *corev1.Pod) bool {
	known := false
	for _, in := range [...]struct {
		containers []corev1.Container
		statuses   []corev1.ContainerStatus
	}{{pod.Spec.Containers, pod.Status.ContainerStatuses}, {pod.Spec.InitContainers, pod.Status.InitContainerStatuses}} {
		for i := range in.containers {
			c := &in.containers[i]
			s := safety.StatusOf(c.Name, in.statuses)
			if s == nil || s.Resources == nil || s.AllocatedResources == nil {
				continue
			}
			known = true
			if spec := sizing.FromResources(c.Resources); allocated(spec, s) != spec {
				return false
			}
		}
	}
	return known
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
