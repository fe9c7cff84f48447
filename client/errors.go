package client

import (
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Reason is the reason that the server gave for err, as documented at the
// method in the API, e.g. "RATIOS_NOT_READY"; empty if err did not come from a
// server.
func Reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.GetReason()
		}
	}
	return ""
}

// IsUnreachable tells whether err means that no server answered: there is none
// at the address, or the connection was lost. A server that answers that it is
// not ready is reached; it gives a Reason.
func IsUnreachable(err error) bool {
	return status.Code(err) == codes.Unavailable && Reason(err) == ""
}

// ErrNoSummary is why a stream broke off that ended like a complete one but
// without its summary.
var ErrNoSummary = errors.New("the stream ended without its summary")

// BrokenStreamError says that a stream broke off after some of its plans had
// arrived, so that what was received is not the whole answer.
type BrokenStreamError struct {
	// Received counts the plans that had arrived.
	Received int
	// Err is what ended the stream: a gRPC status error or ErrNoSummary.
	Err error
}

// Error implements error.
func (e *BrokenStreamError) Error() string {
	return fmt.Sprintf("stream of plans broke off after %d: %v", e.Received, e.Err)
}

// Unwrap returns what ended the stream.
func (e *BrokenStreamError) Unwrap() error { return e.Err }
