package cmdtest

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Since is when every hold of the scripted server started.
var Since = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

// Stored returns the hold that a real server would store. It has the uid of every plan in
// the fixtures.
func Stored(kind workloadresizerv1.HoldKind, scope *workloadresizerv1.HoldScope, reason string, ttl *durationpb.Duration) *workloadresizerv1.Hold {
	hold := &workloadresizerv1.Hold{Kind: kind, Scope: scope, Reason: reason, Author: "ann", CreateTime: timestamppb.New(Since)}
	if scope.GetPod() != nil {
		hold.Uid = Web().GetUid()
	}
	if ttl != nil {
		hold.ExpireTime = timestamppb.New(Since.Add(ttl.AsDuration()))
	}
	return hold
}

// Scopes, the widest first.
var (
	Everything = &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_AllNamespaces{AllNamespaces: &workloadresizerv1.AllNamespaces{}}}
	Shop       = NamespaceScope("shop")
	Cart       = PodScope("shop", "cart-0")
	Carts      = WorkloadScope("shop", "StatefulSet", "cart")
)

// NamespaceScope returns the scope of a namespace.
func NamespaceScope(name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: name}}
}

// WorkloadScope returns the scope of a workload.
func WorkloadScope(namespace, kind, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Workload{
		Workload: &workloadresizerv1.NamespacedWorkload{Namespace: namespace, Kind: kind, Name: name},
	}}
}

// PodScope returns the scope of a pod.
func PodScope(namespace, name string) *workloadresizerv1.HoldScope {
	return &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Pod{Pod: &workloadresizerv1.NamespacedPod{Namespace: namespace, Name: name}}}
}

// Held returns holds of each scope.
func Held() []*workloadresizerv1.Hold {
	return []*workloadresizerv1.Hold{
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Everything, "", nil),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Shop, "load\x1b[31m test", durationpb.New(2*time.Hour)),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, Cart, "too slow", nil),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Carts, "", nil),
	}
}
