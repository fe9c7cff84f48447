package server

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// moved has the methods of the API before its first release, and their successors. Their requests
// differ, so they are refused with the new name.
var moved = map[string]string{
	"/workloadresizer.v1.RatioService/UpdateRatio":       workloadresizerv1.OverrideService_UpdateOverride_FullMethodName,
	"/workloadresizer.v1.RatioService/BatchUpdateRatios": workloadresizerv1.OverrideService_BatchUpdateOverrides_FullMethodName,
	"/workloadresizer.v1.RatioService/DeleteRatio":       workloadresizerv1.OverrideService_DeleteOverride_FullMethodName,
	"/workloadresizer.v1.RatioService/ListRatioChanges":  workloadresizerv1.OverrideService_ListOverrideChanges_FullMethodName,
	"/workloadresizer.v1.RatioService/RollbackRatios":    workloadresizerv1.OverrideService_RollbackOverrides_FullMethodName,
	"/workloadresizer.v1.ResizeService/Restore":          workloadresizerv1.HoldService_Restore_FullMethodName,
	"/workloadresizer.v1.ResizeService/GetStatus":        workloadresizerv1.StatusService_GetStatus_FullMethodName,
	"/workloadresizer.v1.PauseService/Pause":             workloadresizerv1.HoldService_Pause_FullMethodName,
	"/workloadresizer.v1.PauseService/Resume":            workloadresizerv1.HoldService_Resume_FullMethodName,
	"/workloadresizer.v1.PauseService/ListHolds":         workloadresizerv1.HoldService_ListHolds_FullMethodName,
	"/workloadresizer.v1.PauseService/Freeze":            workloadresizerv1.HoldService_Freeze_FullMethodName,
	"/workloadresizer.v1.PauseService/Unfreeze":          workloadresizerv1.HoldService_Unfreeze_FullMethodName,
	"/workloadresizer.v1.PauseService/GetFreeze":         workloadresizerv1.HoldService_GetFreeze_FullMethodName,
}

// movedError returns the error for a method that has a new name; nil for all other methods.
func movedError(method string) error {
	successor, ok := moved[method]
	if !ok {
		return nil
	}
	was, is := dotted(method), dotted(successor)
	return rpcerror.WithMetadata(rpcerror.MethodMoved, was+" is now "+is+"; generate your client again from the current API", map[string]string{"method": is})
}

// dotted returns the name of a method as in documentation, without its package.
func dotted(method string) string {
	_, name, _ := strings.Cut(method, ".v1.")
	return strings.Replace(name, "/", ".", 1)
}

// goneService is the only service of the old API that no longer exists.
const goneService = "workloadresizer.v1.PauseService"

// registerGone registers the service that no longer exists, so that its callers learn the new
// names.
func registerGone(to registrar) {
	to.RegisterService(&grpc.ServiceDesc{ServiceName: goneService, HandlerType: (*any)(nil)}, nil)
}

// movedFrom returns the methods that a service had.
func movedFrom(service string) []grpc.MethodDesc {
	var methods []grpc.MethodDesc
	for method := range moved {
		if name, ok := strings.CutPrefix(method, "/"+service+"/"); ok {
			methods = append(methods, grpc.MethodDesc{MethodName: name, Handler: func(any, context.Context, func(any) error, grpc.UnaryServerInterceptor) (any, error) {
				return nil, movedError(method)
			}})
		}
	}
	return methods
}

// offered are the services of a server without the methods that have moved.
type offered struct{ *grpc.Server }

// GetServiceInfo implements reflection.ServiceInfoProvider.
func (o offered) GetServiceInfo() map[string]grpc.ServiceInfo {
	services := o.Server.GetServiceInfo()
	delete(services, goneService)
	for name, info := range services {
		info.Methods = slices.DeleteFunc(info.Methods, func(m grpc.MethodInfo) bool { return movedError("/"+name+"/"+m.Name) != nil })
		services[name] = info
	}
	return services
}
