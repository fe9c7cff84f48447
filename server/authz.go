package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// methods names every method of the server. A method that is not here is
// denied. While the server listens on loopback only, whoever can reach it runs
// on this machine and may call every method here.
var methods = map[string]struct{}{
	workloadresizerv1.RatioService_ListRatios_FullMethodName:               {},
	workloadresizerv1.RatioService_GetRatio_FullMethodName:                 {},
	workloadresizerv1.PlanService_PreviewPod_FullMethodName:                {},
	workloadresizerv1.PlanService_PreviewPlans_FullMethodName:              {},
	workloadresizerv1.HoldService_Restore_FullMethodName:                   {},
	workloadresizerv1.HoldService_Pause_FullMethodName:                     {},
	workloadresizerv1.HoldService_Resume_FullMethodName:                    {},
	workloadresizerv1.HoldService_ListHolds_FullMethodName:                 {},
	healthv1.Health_Check_FullMethodName:                                   {},
	healthv1.Health_List_FullMethodName:                                    {},
	healthv1.Health_Watch_FullMethodName:                                   {},
	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {},
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {},
}

func authorize(method string) error {
	if _, ok := methods[method]; ok {
		return nil
	}
	return statusError(codes.PermissionDenied, reasonNotAuthorized, "method "+method+" is not in the authorization table; this is a bug of workload-resizer")
}

func authorizeUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := authorize(info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

func authorizeStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := authorize(info.FullMethod); err != nil {
		return err
	}
	return handler(service, stream)
}
