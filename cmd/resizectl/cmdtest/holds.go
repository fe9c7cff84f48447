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
	if scope.GetPod() != "" {
		hold.Uid = Web().GetUid()
	}
	if ttl != nil {
		hold.ExpireTime = timestamppb.New(Since.Add(ttl.AsDuration()))
	}
	return hold
}

// Scopes, the widest first.
var (
	Everything = &workloadresizerv1.HoldScope{AllNamespaces: true}
	Shop       = &workloadresizerv1.HoldScope{Namespace: "shop"}
	Cart       = &workloadresizerv1.HoldScope{Namespace: "shop", Pod: "cart-0"}
	Carts      = &workloadresizerv1.HoldScope{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "StatefulSet", Name: "cart"}}
)

// Held returns holds of each scope.
func Held() []*workloadresizerv1.Hold {
	return []*workloadresizerv1.Hold{
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Everything, "", nil),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Shop, "load\x1b[31m test", durationpb.New(2*time.Hour)),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_RESTORE, Cart, "too slow", nil),
		Stored(workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Carts, "", nil),
	}
}
