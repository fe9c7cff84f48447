package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

func notScheduled(s Snapshot) string {
	if s.Pod.Spec.NodeName != "" {
		return ""
	}
	return "the pod has no node yet"
}

func terminating(s Snapshot) string {
	if s.Pod.DeletionTimestamp == nil {
		return ""
	}
	return "the pod is being deleted"
}

// Finished reports whether all containers of a pod have ended for good.
func Finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func finished(s Snapshot) string {
	if !Finished(s.Pod) {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %s", s.Pod.Status.Phase)
}

func notRunning(s Snapshot) string {
	if s.Pod.Status.Phase == corev1.PodRunning {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %q, not Running", s.Pod.Status.Phase)
}
