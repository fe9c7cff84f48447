package safety

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// matches tells whether the quota counts pods like this one; all its scopes
// have to hold.
func matches(quota *corev1.ResourceQuota, pod *corev1.Pod, class corev1.PodQOSClass) bool {
	for _, scope := range quota.Spec.Scopes {
		if !inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, pod, class) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	for _, scope := range quota.Spec.ScopeSelector.MatchExpressions {
		if !inScope(scope, pod, class) {
			return false
		}
	}
	return true
}

// inScope is the API server's podMatchesScopeFunc
// (pkg/quota/v1/evaluator/core). A scope that is not for pods holds for none.
func inScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod, class corev1.PodQOSClass) bool {
	deadline := pod.Spec.ActiveDeadlineSeconds
	terminating := deadline != nil && *deadline >= 0
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return terminating
	case corev1.ResourceQuotaScopeNotTerminating:
		return !terminating
	case corev1.ResourceQuotaScopeBestEffort:
		return class == corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return class != corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(scope, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return crossesNamespaces(pod.Spec.Affinity)
	}
	return false
}

// selects works as a label selector does; "" is no value.
func selects(scope corev1.ScopedResourceSelectorRequirement, value string) bool {
	in := value != "" && slices.Contains(scope.Values, value)
	switch scope.Operator {
	case corev1.ScopeSelectorOpExists:
		return value != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return value == ""
	case corev1.ScopeSelectorOpIn:
		return in
	case corev1.ScopeSelectorOpNotIn:
		return !in
	}
	return false
}

// crossesNamespaces tells that a term of pod (anti-)affinity names namespaces.
func crossesNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	if a := affinity.PodAffinity; a != nil && anyCrosses(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution) {
		return true
	}
	a := affinity.PodAntiAffinity
	return a != nil && anyCrosses(a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
}

func anyCrosses(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) bool {
	crosses := func(term *corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	}
	for i := range required {
		if crosses(&required[i]) {
			return true
		}
	}
	for i := range preferred {
		if crosses(&preferred[i].PodAffinityTerm) {
			return true
		}
	}
	return false
}
