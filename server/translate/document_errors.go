package translate

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// DocumentReasons are the reasons of what holds, overrides and samples, all kept in
// ConfigMaps, have in common.
type DocumentReasons struct{ Missing, Invalid, Refused, NotReady *rpcerror.Reason }

// DocumentError translates what a store answers that keeps a document. Whatever
// is not known passes.
func DocumentError(err error, reasons DocumentReasons) error {
	var missing *hold.MissingError
	var content *hold.ContentError
	var refused *hold.RefusedError
	switch {
	case errors.As(err, &missing):
		return rpcerror.New(reasons.Missing, err.Error())
	case errors.As(err, &content):
		return rpcerror.New(reasons.Invalid, err.Error())
	case errors.As(err, &refused):
		return rpcerror.New(reasons.Refused, err.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return rpcerror.New(reasons.NotReady, err.Error())
}
