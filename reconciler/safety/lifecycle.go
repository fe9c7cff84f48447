package safety

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

func notScheduled(s Snapshot) string {
	if s.Pod.Node() != "" {
		return ""
	}
	return "the pod has no node yet"
}

func terminating(s Snapshot) string {
	if !s.Pod.Terminating() {
		return ""
	}
	return "the pod is being deleted"
}

func finished(s Snapshot) string {
	if !s.Pod.Finished() {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %s", s.Pod.Phase())
}

func notRunning(s Snapshot) string {
	if s.Pod.Phase() == corev1.PodRunning {
		return ""
	}
	return fmt.Sprintf("the pod's phase is %q, not Running", s.Pod.Phase())
}
