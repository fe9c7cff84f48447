package print

import (
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PodName returns the name of a pod in kubectl's form.
func PodName(pod string) string { return "pod/" + pod }

// WorkloadName returns the name of a workload in kubectl's form, e.g. "deployment/web".
func WorkloadName(w interface {
	GetKind() string
	GetName() string
}) string {
	return OneLine(strings.ToLower(w.GetKind()) + "/" + w.GetName())
}

// Scope returns the name of a scope for a sentence.
func Scope(s *workloadresizerv1.HoldScope) string {
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		return "pod " + OneLine(scope.Pod.GetNamespace()+"/"+scope.Pod.GetName())
	case *workloadresizerv1.HoldScope_Workload:
		return strings.ToLower(OneLine(scope.Workload.GetKind())) + " " + OneLine(scope.Workload.GetNamespace()+"/"+scope.Workload.GetName())
	case *workloadresizerv1.HoldScope_Namespace:
		return "namespace " + OneLine(scope.Namespace)
	}
	return "every pod in the cluster"
}

// ScopeNamespace returns the namespace of a scope; empty for the cluster.
func ScopeNamespace(s *workloadresizerv1.HoldScope) string {
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		return scope.Pod.GetNamespace()
	case *workloadresizerv1.HoldScope_Workload:
		return scope.Workload.GetNamespace()
	case *workloadresizerv1.HoldScope_Namespace:
		return scope.Namespace
	}
	return ""
}

// NarrowBreakers says how many breakers of namespaces and workloads are open; empty if there are none.
func NarrowBreakers(s *workloadresizerv1.GetStatusResponse) string {
	var of []string
	if n := s.GetNamespaceBreakers(); n > 0 {
		of = append(of, CountOf(n, "namespace"))
	}
	if n := s.GetWorkloadBreakers(); n > 0 {
		of = append(of, CountOf(n, "workload"))
	}
	if of == nil {
		return ""
	}
	return "the breakers of " + strings.Join(of, " and ") + " are open"
}

// HoldKind returns the kind of a hold in words.
func HoldKind(h *workloadresizerv1.Hold) string {
	switch k := h.GetKind(); k {
	case workloadresizerv1.HoldKind_HOLD_KIND_RESTORE:
		if h.GetEmergency() {
			return "emergency restore"
		}
		return "restore"
	case workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:
		return "pause"
	case workloadresizerv1.HoldKind_HOLD_KIND_BREAKER:
		return "breaker"
	default:
		// A newer server may know more kinds than this version.
		return k.String()
	}
}
