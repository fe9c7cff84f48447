package safety

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// matches reports whether the quota counts pods like this one; all scopes of the quota must
// match.
func matches(quota *corev1.ResourceQuota, p *pod.Pod, class corev1.PodQOSClass) bool {
	for _, scope := range quota.Spec.Scopes {
		if !inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, p, class) {
			return false
		}
	}
	if quota.Spec.ScopeSelector == nil {
		return true
	}
	for _, scope := range quota.Spec.ScopeSelector.MatchExpressions {
		if !inScope(scope, p, class) {
			return false
		}
	}
	return true
}

// inScope is the API server's podMatchesScopeFunc (pkg/quota/v1/evaluator/core). A scope that
// is not for pods matches none.
func inScope(scope corev1.ScopedResourceSelectorRequirement, p *pod.Pod, class corev1.PodQOSClass) bool {
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return p.HasDeadline()
	case corev1.ResourceQuotaScopeNotTerminating:
		return !p.HasDeadline()
	case corev1.ResourceQuotaScopeBestEffort:
		return class == corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return class != corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopePriorityClass:
		return selects(scope, p.PriorityClass())
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return p.CrossesNamespaces()
	}
	return false
}

// selects works like a label selector; "" means no value.
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
