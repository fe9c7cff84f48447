package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// What the API server never resizes; the rules are those of its
// ValidatePodResize (pkg/apis/core/validation).

func static(s Snapshot) string {
	if _, ok := s.Pod.Annotations[corev1.MirrorPodAnnotationKey]; !ok {
		return ""
	}
	return "the pod is the mirror of a static pod, which only its kubelet can change"
}

func windows(s Snapshot) string {
	if s.Pod.Spec.OS == nil || s.Pod.Spec.OS.Name != corev1.Windows {
		return ""
	}
	return "the pod's operating system (spec.os) is windows"
}

// noRequests holds for every BestEffort pod.
func noRequests(s Snapshot) string {
	for i := range s.Pod.Spec.Containers {
		requests := s.Pod.Spec.Containers[i].Resources.Requests
		cpu, memory := requests[corev1.ResourceCPU], requests[corev1.ResourceMemory]
		if !cpu.IsZero() || !memory.IsZero() {
			return ""
		}
	}
	return "no container requests cpu or memory"
}

// resizeUnsupported asks the first running container only, as the API server
// does: a kubelet that can resize reports what a container runs with. While no
// container runs, nothing can be told.
func resizeUnsupported(s Snapshot) string {
	for i := range s.Pod.Status.ContainerStatuses {
		status := &s.Pod.Status.ContainerStatuses[i]
		if status.State.Running == nil {
			continue
		}
		if status.Resources == nil {
			return fmt.Sprintf("node %s does not report the resources of container %s, so it cannot resize in place", s.Pod.Spec.NodeName, status.Name)
		}
		return ""
	}
	return ""
}

func podLevelResources(s Snapshot) string {
	if r := s.Pod.Spec.Resources; r == nil || len(r.Requests)+len(r.Limits) == 0 {
		return ""
	}
	return "the pod has resources as a whole (spec.resources)"
}

// resourceClaims covers init containers as well: the API server refuses the
// resize of a pod if any container of it has claims.
func resourceClaims(s Snapshot) string {
	for _, containers := range [...][]corev1.Container{s.Pod.Spec.Containers, s.Pod.Spec.InitContainers} {
		for i := range containers {
			if claims := containers[i].Resources.Claims; len(claims) > 0 {
				return fmt.Sprintf("container %s uses resource claim %s", containers[i].Name, claims[0].Name)
			}
		}
	}
	if claims := s.Pod.Status.NodeAllocatableResourceClaimStatuses; len(claims) > 0 {
		return fmt.Sprintf("the pod uses resource claim %s for resources of its node", claims[0].ResourceClaimName)
	}
	return ""
}
