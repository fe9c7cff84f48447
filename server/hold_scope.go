package server

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// holdScope reads a scope without its UID.
func holdScope(scope *workloadresizerv1.HoldScope) (hold.Scope, error) {
	all, namespace, pod := scope.GetAllNamespaces(), scope.GetNamespace(), scope.GetPod()
	switch {
	case all && (namespace != "" || pod != ""):
		return hold.Scope{}, badField("scope", "must name one scope: all_namespaces, or a namespace, or a pod in its namespace")
	case pod != "" && namespace == "":
		return hold.Scope{}, missingField("scope.namespace", "the pod's namespace")
	case !all && namespace == "":
		return hold.Scope{}, missingField("scope", "a namespace, a pod in its namespace, or all_namespaces for every pod of the cluster")
	}
	s := hold.Scope{Namespace: namespace, Pod: pod}
	return s, holdFaults(s.Faults())
}

// holdKind reads the kind to end; none is both.
func holdKind(kind workloadresizerv1.HoldKind) (hold.Kind, error) {
	switch kind {
	case workloadresizerv1.HoldKind_HOLD_KIND_UNSPECIFIED:
		return "", nil
	case workloadresizerv1.HoldKind_HOLD_KIND_RESTORE:
		return hold.Restore, nil
	case workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:
		return hold.Pause, nil
	}
	return "", badField("kind", "is none that this server knows; leave it out for all")
}
