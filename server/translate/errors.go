package translate

import (
	"errors"

	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// Error translates an error of the reconciler.
func Error(err error) error {
	var notReady *cluster.NotReadyError
	if errors.As(err, &notReady) {
		reason := rpcerror.RatiosNotReady
		if notReady.What == cluster.CacheNotReady {
			reason = rpcerror.CacheNotReady
		}
		return rpcerror.New(reason, err.Error())
	}
	var unknown *query.PodNotFoundError
	if errors.As(err, &unknown) {
		return rpcerror.NotFound(rpcerror.PodNotFound, "pod", unknown.Pod.String(), err.Error())
	}
	var untouched *query.NotResizedError
	if errors.As(err, &untouched) {
		return rpcerror.NotFound(rpcerror.NotResized, "pod", untouched.Pod.String(), err.Error())
	}
	if s, ok := status.FromError(err); ok {
		return s.Err() // From the Viewer.
	}
	return rpcerror.New(rpcerror.Internal, err.Error())
}
