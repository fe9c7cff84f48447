package print

import (
	"slices"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// PodName returns the name of a pod in kubectl's form.
func PodName(pod string) string { return "pod/" + pod }

// types are the kinds whose types kubectl has names for, in lower case.
var types = []string{"Pod", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"}

// Type returns how a kind is written in the name of a workload, so that arguments accept it: in lower
// case if kubectl has a type for it, and otherwise as in a manifest.
func Type(kind string) string {
	if slices.Contains(types, kind) {
		return strings.ToLower(kind)
	}
	return kind
}

// WorkloadName returns the name of a workload in the form of an argument, e.g. "deployment/web" or
// "Rollout/web".
func WorkloadName(w interface {
	GetKind() string
	GetName() string
}) string {
	return OneLine(Type(w.GetKind()) + "/" + w.GetName())
}

// Scope returns the name of a scope for a sentence.
func Scope(s *workloadresizerv1.HoldScope) string {
	switch scope := s.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Pod:
		return "pod " + OneLine(scope.Pod.GetNamespace()+"/"+scope.Pod.GetName())
	case *workloadresizerv1.HoldScope_Workload:
		return OneLine(Type(scope.Workload.GetKind())) + " " + OneLine(scope.Workload.GetNamespace()+"/"+scope.Workload.GetName())
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
