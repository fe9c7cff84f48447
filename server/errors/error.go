package errors

import (
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
)

// domain is the domain of every ErrorInfo.
const domain = "workload-resizer.io"

// retryDelay is when to try again if something is not available yet: it becomes available, or
// available again, within a moment.
const retryDelay = time.Second

// New returns a status error with the reason's code, an ErrorInfo with the reason and, where
// they fit, more details. An UNAVAILABLE error always has a RetryInfo, and a
// FAILED_PRECONDITION error its PreconditionFailure.
func New(reason *Reason, message string, details ...protoadapt.MessageV1) error {
	return build(reason, message, nil, details)
}

// WithMetadata is New with metadata for programs in the ErrorInfo.
func WithMetadata(reason *Reason, message string, metadata map[string]string) error {
	return build(reason, message, metadata, nil)
}

// NotFound returns the error for an object that does not exist.
func NotFound(reason *Reason, kind, name, message string) error {
	return New(reason, message, &errdetails.ResourceInfo{ResourceType: kind, ResourceName: valid(name), Description: valid(message)})
}

// valid returns text that can be sent: gRPC refuses messages with invalid UTF-8, and errors of
// parsers may quote any bytes.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

func build(reason *Reason, message string, metadata map[string]string, details []protoadapt.MessageV1) error {
	message = valid(message)
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
		// WithDetails fails only for an OK status, or for details that cannot be marshaled.
		panic("server/errors: details: " + err.Error())
	}
	return detailed.Err()
}

// NotReady returns the error for something that is not known yet.
func NotReady(reason *Reason, err error) error { return New(reason, "not ready: "+err.Error()) }
