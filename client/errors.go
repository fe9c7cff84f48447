package client

import (
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reason returns the reason that the server gave for err, e.g. "RATIOS_NOT_READY", as
// documented with the method in the API. It is empty if err did not come from a server.
func Reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// IsUnreachable reports whether err means that no server answered: there is none at the
// address, or the connection was lost. A server that answers that it is not ready is
// reachable, and gives a Reason.
func IsUnreachable(err error) bool {
	return status.Code(err) == codes.Unavailable && Reason(err) == ""
}

// ErrNoSummary is the error of a stream that ended without a failure, but also without its
// summary.
var ErrNoSummary = errors.New("the stream ended without its summary")

// ErrNotPublished means that the authority of the server's certificate is not in its ConfigMap yet, as
// before the first server runs.
var ErrNotPublished = errors.New("it is not published yet")

// BrokenStreamError means that a stream ended after only some of its plans had arrived, so that
// the answer is incomplete.
type BrokenStreamError struct {
	// Received is the number of plans that had arrived.
	Received int
	// Err ended the stream: a gRPC status error or ErrNoSummary.
	Err error
}

// Error implements error.
func (e *BrokenStreamError) Error() string {
	return fmt.Sprintf("stream of plans ended early, after %d plans: %v", e.Received, e.Err)
}

// Unwrap returns what ended the stream.
func (e *BrokenStreamError) Unwrap() error { return e.Err }
