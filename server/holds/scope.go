package holds

import (
	"reflect"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// scopeOf reads a scope, except for its UID.
func scopeOf(scope *workloadresizerv1.HoldScope) (hold.Scope, error) {
	var s hold.Scope
	switch scope := scope.GetScope().(type) {
	case *workloadresizerv1.HoldScope_AllNamespaces:
	case *workloadresizerv1.HoldScope_Namespace:
		s.Namespace = scope.Namespace
	case *workloadresizerv1.HoldScope_Workload:
		s.Namespace, s.Workload = scope.Workload.GetNamespace(), workload.Workload{Kind: scope.Workload.GetKind(), Name: scope.Workload.GetName()}
	case *workloadresizerv1.HoldScope_Pod:
		s.Namespace, s.Pod = scope.Pod.GetNamespace(), scope.Pod.GetName()
	default:
		return s, rpcerror.MissingField("scope", "all_namespaces, a namespace, a workload or a pod")
	}
	if err := faultsError(scope, s.Faults()); err != nil {
		return s, err
	}
	if reflect.TypeOf(scopeMessage(s).GetScope()) != reflect.TypeOf(scope.GetScope()) {
		// The rules of the API refuse this, too. Here it would be a hold of too many pods.
		return s, rpcerror.BadField("scope", "lacks a name: without it, the scope would be wider")
	}
	return s, nil
}

func scopeMessage(s hold.Scope) *workloadresizerv1.HoldScope {
	switch {
	case s.Pod != "":
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{Pod: &workloadresizerv1.NamespacedPod{Namespace: s.Namespace, Name: s.Pod}}}
	case s.Workload != (workload.Workload{}):
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{Workload: &workloadresizerv1.NamespacedWorkload{Namespace: s.Namespace, Kind: s.Workload.Kind, Name: s.Workload.Name}}}
	case s.Namespace != "":
		return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: s.Namespace}}
	}
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
}

// kinds has the kinds of holds to end. Unspecified, which is not included, stands for all.
var kinds = map[workloadresizerv1.HoldKind]hold.Kind{
	workloadresizerv1.HoldKind_HOLD_KIND_RESTORE: hold.Restore,
	workloadresizerv1.HoldKind_HOLD_KIND_PAUSE:   hold.Pause,
	workloadresizerv1.HoldKind_HOLD_KIND_BREAKER: hold.Breaker,
}
