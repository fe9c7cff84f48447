package server

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// holdError translates what the store of holds answers; nil stays nil.
func holdError(err error) error {
	var covered *hold.CoveredError
	var full *hold.FullError
	var missing *hold.MissingError
	var content *hold.ContentError
	var refused *hold.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &covered):
		return statusError(codes.FailedPrecondition, reasonHeldByWider, err.Error())
	case errors.As(err, &full):
		return statusError(codes.ResourceExhausted, reasonTooManyHolds, err.Error())
	case errors.As(err, &missing):
		return statusError(codes.FailedPrecondition, reasonHoldsMissing, err.Error())
	case errors.As(err, &content):
		return statusError(codes.FailedPrecondition, reasonHoldsInvalid, err.Error())
	case errors.As(err, &refused):
		return statusError(codes.FailedPrecondition, reasonHoldsRefused, err.Error())
	case errors.Is(err, hold.ErrReadOnly):
		return statusError(codes.FailedPrecondition, reasonReadOnly, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return statusError(codes.Unavailable, reasonHoldsNotReady, err.Error())
}

// requestFields are the fields of a request that those of a hold come from, where
// they have other names.
var requestFields = map[string]string{"namespace": "scope.namespace", "pod": "scope.pod", "expires": "ttl"}

// holdFaults is the answer to a request for a hold that cannot be; nil if there
// is nothing wrong.
func holdFaults(wrong []*hold.FieldError) error {
	violations := make([]violation, len(wrong))
	for i, fault := range wrong {
		violations[i] = violation{fault.Field, fault.Problem}
		if field, ok := requestFields[fault.Field]; ok {
			violations[i].field = field
		}
	}
	if len(violations) == 0 {
		return nil
	}
	return badFields(violations)
}
