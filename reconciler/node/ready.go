package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Readiness reports whether a node is ready, and when it became ready or not, by its own clock; false and zero if that is not
// known.
func Readiness(of *corev1.Node) (ready bool, since time.Time) {
	if of == nil {
		return false, time.Time{}
	}
	for i := range of.Status.Conditions {
		if c := &of.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, c.LastTransitionTime.Time
		}
	}
	return false, time.Time{}
}
