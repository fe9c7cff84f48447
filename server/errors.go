package server

import (
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"

	"github.com/workload-resizer/workload-resizer/reconciler"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "workload-resizer.io"

// Reasons of ErrorInfo.
const (
	reasonRatiosNotReady  = "RATIOS_NOT_READY"
	reasonCacheNotReady   = "CACHE_NOT_READY"
	reasonNodeTypeUnknown = "NODE_TYPE_UNKNOWN"
	reasonPodNotFound     = "POD_NOT_FOUND"
	reasonInvalidArgument = "INVALID_ARGUMENT"
	reasonInternal        = "INTERNAL"
	reasonNotAuthorized   = "METHOD_NOT_AUTHORIZED"
	reasonHoldsNotReady   = "HOLDS_NOT_READY"
	reasonHoldsMissing    = "HOLDS_MISSING"
	reasonHoldsInvalid    = "HOLDS_INVALID"
	reasonHoldsRefused    = "HOLDS_REFUSED"
	reasonTooManyHolds    = "TOO_MANY_HOLDS"
	reasonHeldByWider     = "HELD_BY_WIDER_SCOPE"
	reasonReadOnly        = "READ_ONLY"
)

// statusError is an error with an ErrorInfo and, where they fit, more details.
func statusError(code codes.Code, reason, message string, details ...protoadapt.MessageV1) error {
	s := status.New(code, message)
	details = append([]protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: reason, Domain: errorDomain}}, details...)
	detailed, err := s.WithDetails(details...)
	if err != nil {
		// Only details of an OK status, or ones that cannot be
		// marshalled, give an error.
		panic("server: error details: " + err.Error())
	}
	return detailed.Err()
}

// missingField is the answer to a request that lacks a required field.
func missingField(field, what string) error { return badField(field, "must be set: "+what) }

// badField is the answer to a request with a field that is not as it must be.
func badField(field, problem string) error { return badFields([]violation{{field, problem}}) }

// violation is what is wrong with a field of a request.
type violation struct{ field, problem string }

// badFields is badField for several fields, at least one.
func badFields(violations []violation) error {
	request := &errdetails.BadRequest{}
	messages := make([]string, len(violations))
	for i, v := range violations {
		messages[i] = v.field + " " + v.problem
		request.FieldViolations = append(request.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v.field, Description: v.problem})
	}
	return statusError(codes.InvalidArgument, reasonInvalidArgument, strings.Join(messages, "; "), request)
}

func notFound(reason, kind, name, message string) error {
	return statusError(codes.NotFound, reason, message, &errdetails.ResourceInfo{ResourceType: kind, ResourceName: name, Description: message})
}

// planError translates what the reconciler answers instead of a plan.
func planError(err error) error {
	var notReady *reconciler.NotReadyError
	if errors.As(err, &notReady) {
		reason := reasonRatiosNotReady
		if notReady.What == reconciler.CacheNotReady {
			reason = reasonCacheNotReady
		}
		return statusError(codes.Unavailable, reason, err.Error())
	}
	var unknown *reconciler.PodNotFoundError
	if errors.As(err, &unknown) {
		return notFound(reasonPodNotFound, "pod", unknown.Pod.String(), err.Error())
	}
	return statusError(codes.Internal, reasonInternal, err.Error())
}
