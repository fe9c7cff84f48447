package translate

import (
	"context"
	"errors"

	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// DocumentReasons are the reasons that holds, overrides and samples have in common. All of
// them are kept in ConfigMaps.
type DocumentReasons struct{ Missing, Invalid, Refused, NotReady *rpcerror.Reason }

// DocumentError translates an error of a store that keeps a document. Unknown errors get the
// reason NotReady.
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
