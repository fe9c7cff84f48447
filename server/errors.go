package server

import (
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/server/rpcerror"
)

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
	return rpcerror.New(rpcerror.InvalidArgument, strings.Join(messages, "; "), request)
}

func notFound(reason *rpcerror.Reason, kind, name, message string) error {
	return rpcerror.New(reason, message, &errdetails.ResourceInfo{ResourceType: kind, ResourceName: name, Description: message})
}

// planError translates what the reconciler answers instead of a plan.
func planError(err error) error {
	var notReady *reconciler.NotReadyError
	if errors.As(err, &notReady) {
		reason := rpcerror.RatiosNotReady
		if notReady.What == reconciler.CacheNotReady {
			reason = rpcerror.CacheNotReady
		}
		return rpcerror.New(reason, err.Error())
	}
	var unknown *reconciler.PodNotFoundError
	if errors.As(err, &unknown) {
		return notFound(rpcerror.PodNotFound, "pod", unknown.Pod.String(), err.Error())
	}
	var untouched *reconciler.NotResizedError
	if errors.As(err, &untouched) {
		return notFound(rpcerror.NotResized, "pod", untouched.Pod.String(), err.Error())
	}
	if s, ok := status.FromError(err); ok {
		return s.Err() // Of the Viewer.
	}
	return rpcerror.New(rpcerror.Internal, err.Error())
}
