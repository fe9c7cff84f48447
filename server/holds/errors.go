package holds

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
)

// holdError translates an error of the store about holds, for the caller with this view; nil
// stays nil.
func holdError(view access.View, err error) error {
	var covered *hold.CoveredError
	var full *hold.FullError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &covered):
		return rpcerror.New(rpcerror.HeldByWiderScope, err.Error())
	case errors.As(err, &full):
		return rpcerror.New(rpcerror.TooManyHolds, err.Error())
	case errors.Is(err, hold.ErrReadOnly):
		return rpcerror.New(rpcerror.ReadOnly, err.Error())
	}
	return translate.DocumentError(translate.HoldsError(view, err), translate.DocumentReasons{
		Missing: rpcerror.HoldsMissing, Invalid: rpcerror.HoldsInvalid, Refused: rpcerror.HoldsRefused, NotReady: rpcerror.HoldsNotReady,
	})
}

// putError is holdError for a request for a hold of a scope.
func putError(view access.View, scope *workloadresizerv1.HoldScope, err error) error {
	if fault, ok := errors.AsType[*hold.FieldError](err); ok {
		return faultsError(scope, []*hold.FieldError{fault})
	}
	return holdError(view, err)
}

// freezeError translates an error of the store about the freeze; nil stays nil.
func freezeError(err error) error {
	var refused *hold.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, hold.ErrFreezeReadOnly):
		return rpcerror.New(rpcerror.ReadOnly, err.Error())
	case errors.As(err, &refused):
		return rpcerror.New(rpcerror.FreezeRefused, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return rpcerror.New(rpcerror.FreezeNotReady, err.Error())
}

// requestField returns the field of a request with this scope for a field of a hold.
func requestField(scope *workloadresizerv1.HoldScope, field string) string {
	kind := "scope."
	switch scope.GetScope().(type) {
	case *workloadresizerv1.HoldScope_Workload:
		kind = "scope.workload."
	case *workloadresizerv1.HoldScope_Pod:
		kind = "scope.pod."
	}
	switch field {
	case "namespace":
		return kind + "namespace"
	case "pod":
		return "scope.pod.name"
	case "workload.kind", "workload.name":
		return "scope." + field
	case "expires":
		return "ttl"
	case "requestID":
		return "request_id"
	}
	return field
}

// faultsError returns the error for a request for an invalid hold of a scope; nil if there are
// no faults.
func faultsError(scope *workloadresizerv1.HoldScope, wrong []*hold.FieldError) error {
	violations := make([]rpcerror.Violation, len(wrong))
	for i, fault := range wrong {
		violations[i] = rpcerror.Violation{Field: requestField(scope, fault.Field), Problem: fault.Problem}
	}
	if len(violations) == 0 {
		return nil
	}
	return rpcerror.BadFields(violations)
}
