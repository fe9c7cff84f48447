package statuswriter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withCondition sets a condition. Its transition time is when its status or reason last changed.
// Its probe time is updated only together with other changes, as kubelets do.
func withCondition(conditions []corev1.PodCondition, set corev1.PodCondition, now metav1.Time) []corev1.PodCondition {
	set.LastTransitionTime = now
	i := indexOf(conditions, set.Type)
	if i < 0 {
		return append(conditions, set)
	}
	if old := conditions[i]; old.Status == set.Status && old.Reason == set.Reason {
		set.LastTransitionTime = old.LastTransitionTime
		if old.Message == set.Message && old.ObservedGeneration == set.ObservedGeneration {
			set.LastProbeTime = old.LastProbeTime
		}
	}
	conditions[i] = set
	return conditions
}

func withoutCondition(conditions []corev1.PodCondition, kind corev1.PodConditionType) []corev1.PodCondition {
	if i := indexOf(conditions, kind); i >= 0 {
		return slices.Delete(conditions, i, i+1)
	}
	return conditions
}

func indexOf(conditions []corev1.PodCondition, kind corev1.PodConditionType) int {
	return slices.IndexFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
}
