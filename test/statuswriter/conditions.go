package statuswriter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// withCondition sets a condition. Its time is when its status last changed.
func withCondition(conditions []corev1.PodCondition, set corev1.PodCondition) []corev1.PodCondition {
	set.LastTransitionTime = metav1.Now().Rfc3339Copy()
	i := indexOf(conditions, set.Type)
	if i < 0 {
		return append(conditions, set)
	}
	if conditions[i].Status == set.Status {
		set.LastTransitionTime = conditions[i].LastTransitionTime
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
