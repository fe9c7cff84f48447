package errors

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// domain is that of every ErrorInfo.
const domain = "workload-resizer.io"

// retryDelay is when to try again what is not there yet: it comes, or comes back,
// within a moment.
const retryDelay = time.Second

// New returns a status error of the reason's code with an ErrorInfo of the reason
// and, where they fit, more details. What is UNAVAILABLE has a RetryInfo, and a
// FAILED_PRECONDITION its PreconditionFailure, without being given one.
func New(reason *Reason, message string, details ...protoadapt.MessageV1) error {
	return build(reason, message, nil, details)
}

// WithMetadata is New with what programs need to go on, in the ErrorInfo.
func WithMetadata(reason *Reason, message string, metadata map[string]string) error {
	return build(reason, message, metadata, nil)
}

// NotFound is the answer to who asks for something that there is not.
func NotFound(reason *Reason, kind, name, message string) error {
	return New(reason, message, &errdetails.ResourceInfo{ResourceType: kind, ResourceName: name, Description: message})
}

func build(reason *Reason, message string, metadata map[string]string, details []protoadapt.MessageV1) error {
	info := &errdetails.ErrorInfo{Reason: reason.name, Domain: domain, Metadata: metadata}
	all := append([]protoadapt.MessageV1{info}, details...)
	switch reason.code {
	case codes.Unavailable:
		all = append(all, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryDelay)})
	case codes.FailedPrecondition:
		all = append(all, &errdetails.PreconditionFailure{Violations: []*errdetails.PreconditionFailure_Violation{
			{Type: reason.name, Subject: reason.subject, Description: message},
		}})
	}
	detailed, err := status.New(reason.code, message).WithDetails(all...)
	if err != nil {
		// Only details of an OK status, or ones that cannot be
		// marshalled, give an error.
		panic("server/errors: details: " + err.Error())
	}
	return detailed.Err()
}

// NotReady is the error of what is not known yet, for this reason.
func NotReady(reason *Reason, err error) error { return New(reason, "not ready: "+err.Error()) }
