package holds

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// scopeOf reads a scope, except for its UID.
func scopeOf(scope *workloadresizerv1.HoldScope) (hold.Scope, error) {
	all, namespace, pod, workload := scope.GetAllNamespaces(), scope.GetNamespace(), scope.GetPod(), scope.GetWorkload()
	switch {
	case all && (namespace != "" || pod != "" || workload != nil), pod != "" && workload != nil:
		return hold.Scope{}, rpcerror.BadField("scope", "must name exactly one scope: all_namespaces, a namespace, or a workload or pod with its namespace")
	case pod != "" && namespace == "":
		return hold.Scope{}, rpcerror.MissingField("scope.namespace", "the pod's namespace")
	case workload != nil && namespace == "":
		return hold.Scope{}, rpcerror.MissingField("scope.namespace", "the workload's namespace")
	case !all && namespace == "":
		return hold.Scope{}, rpcerror.MissingField("scope", "a namespace, a workload or pod with its namespace, or all_namespaces for every pod in the cluster")
	}
	s := hold.Scope{Namespace: namespace, Pod: pod, Workload: safety.Workload{Kind: workload.GetKind(), Name: workload.GetName()}}
	return s, faultsError(s.Faults())
}

func scopeMessage(s hold.Scope) *workloadresizerv1.HoldScope {
	message := &workloadresizerv1.HoldScope{AllNamespaces: s == hold.Scope{}, Namespace: s.Namespace, Pod: s.Pod}
	if s.Workload != (safety.Workload{}) {
		message.Workload = &workloadresizerv1.Workload{Kind: s.Workload.Kind, Name: s.Workload.Name}
	}
	return message
}

// kinds has the kinds of holds to end. Unspecified, which is not included, stands for both.
var kinds = map[workloadresizerv1.HoldKind]hold.Kind{
	workloadresizerv1.HoldKind_HOLD_KIND_RESTORE: hold.Restore,
	workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:   hold.Pause,
}
