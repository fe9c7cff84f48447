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

func finished(s Snapshot) string {
	switch s.Pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed:
		return fmt.Sprintf("the pod's phase is %s", s.Pod.Status.Phase)
	}
	return ""
}

func notRunning(s Snapshot) string {
	if s.Pod.Status.Phase == corev1.PodRunning {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %q, not Running", s.Pod.Status.Phase)
}
