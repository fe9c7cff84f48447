package statuswriter

import (
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// ofRunning are the conditions of a running pod, all of which are true.
var ofRunning = []corev1.PodConditionType{
	corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.PodReady, corev1.ContainersReady, corev1.PodScheduled,
}

// nextStatus returns the next status of a pod. sizedIn is the generation in which the
// pod began to request its current sizes.
func nextStatus(pod *corev1.Pod, k kubelet, sizedIn int64, decide func(*corev1.Pod) Outcome) *corev1.PodStatus {
	var outcome Outcome
	if decide != nil && isResizing(pod) {
		outcome = decide(pod)
	}
	status := pod.Status.DeepCopy()
	status.Phase = corev1.PodRunning
	status.ObservedGeneration = k.observed(pod.Generation)
	now := k.now()
	if status.StartTime == nil {
		status.StartTime = &now
	}
	for _, kind := range ofRunning {
		status.Conditions = withCondition(status.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, ObservedGeneration: k.observed(pod.Generation),
		}, now)
	}
	if outcome.allocates() && isToAllocate(pod) {
		// From now on, another resize is in progress.
		status.Conditions = withoutCondition(status.Conditions, corev1.PodResizeInProgress)
	}
	status.Conditions = outcome.conditions(status.Conditions, k, sizedIn)
	status.InitContainerStatuses = containerStatuses(pod, pod.Spec.InitContainers, status.InitContainerStatuses, outcome, isSidecar, now)
	status.ContainerStatuses = containerStatuses(pod, pod.Spec.Containers, status.ContainerStatuses, outcome, isAny, now)
	return status
}

func isAny(*corev1.Container) bool { return true }

// isSidecar reports whether an init container keeps running, as sidecars do.
func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// isResizing reports whether the sizes in the spec differ from those of the containers.
func isResizing(pod *corev1.Pod) bool {
	return isToAllocate(pod) || anyStarted(pod, func(c *corev1.Container, old *corev1.ContainerStatus) bool {
		return !equality.Semantic.DeepEqual(old.Resources, sizes(c))
	})
}

// isToAllocate reports whether the requests in the spec differ from the allocated resources.
func isToAllocate(pod *corev1.Pod) bool {
	return anyStarted(pod, func(c *corev1.Container, old *corev1.ContainerStatus) bool {
		return !equality.Semantic.DeepEqual(old.AllocatedResources, c.Resources.Requests)
	})
}

// anyStarted reports whether the function returns true for at least one container that
// has started.
func anyStarted(pod *corev1.Pod, is func(*corev1.Container, *corev1.ContainerStatus) bool) bool {
	among := func(containers []corev1.Container, statuses []corev1.ContainerStatus) bool {
		return slices.ContainsFunc(containers, func(c corev1.Container) bool {
			old := statusOf(statuses, c.Name)
			return old.Resources != nil && is(&c, &old)
		})
	}
	return among(pod.Spec.InitContainers, pod.Status.InitContainerStatuses) ||
		among(pod.Spec.Containers, pod.Status.ContainerStatuses)
}

// sizes returns a container's requests and limits in the form of its status.
func sizes(c *corev1.Container) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{Requests: c.Resources.Requests, Limits: c.Resources.Limits}
}

// statusOf returns a container's status, or the zero status if it has none.
func statusOf(statuses []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	i := slices.IndexFunc(statuses, func(s corev1.ContainerStatus) bool { return s.Name == name })
	if i < 0 {
		return corev1.ContainerStatus{}
	}
	return statuses[i]
}

func containerStatuses(pod *corev1.Pod, containers []corev1.Container, old []corev1.ContainerStatus, outcome Outcome, runs func(*corev1.Container) bool, now metav1.Time) []corev1.ContainerStatus {
	var statuses []corev1.ContainerStatus
	for i := range containers {
		c := &containers[i]
		status := statusOf(old, c.Name)
		starts := status.Resources == nil
		if starts {
			status = startedStatus(pod, c, runs(c), now)
		}
		if starts || outcome.allocates() {
			status.AllocatedResources = c.Resources.Requests
		}
		if starts || outcome.actuates() {
			status.Resources = sizes(c)
		}
		statuses = append(statuses, status)
	}
	return statuses
}

func startedStatus(pod *corev1.Pod, c *corev1.Container, runs bool, now metav1.Time) corev1.ContainerStatus {
	status := corev1.ContainerStatus{
		Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: true, Started: &runs,
		ContainerID: fmt.Sprintf("statuswriter://%s/%s", pod.UID, c.Name),
	}
	if runs {
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
	} else {
		status.State.Terminated = &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now, ContainerID: status.ContainerID}
	}
	return status
}

// statusPatch returns the strategic merge patch that changes a pod's status to the given one. It
// applies only if the pod has not changed in the meantime.
func statusPatch(pod *corev1.Pod, status *corev1.PodStatus) ([]byte, error) {
	before, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return nil, fmt.Errorf("encode the current status: %w", err)
	}
	after, err := json.Marshal(corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{UID: pod.UID, ResourceVersion: pod.ResourceVersion},
		Status:     *status,
	})
	if err != nil {
		return nil, fmt.Errorf("encode the new status: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("create a patch: %w", err)
	}
	return patch, nil
}
