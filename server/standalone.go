package server

import (
	"context"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// withoutCluster names the methods that need no cluster. One that is not here is
// refused by a server that has none.
var withoutCluster = map[string]struct{}{
	workloadresizerv1.RatioService_ListRatios_FullMethodName:               {},
	workloadresizerv1.RatioService_GetRatio_FullMethodName:                 {},
	workloadresizerv1.RatioService_WatchRatios_FullMethodName:              {},
	workloadresizerv1.PlanService_PreviewManifest_FullMethodName:           {},
	healthv1.Health_Check_FullMethodName:                                   {},
	healthv1.Health_List_FullMethodName:                                    {},
	healthv1.Health_Watch_FullMethodName:                                   {},
	reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {},
	reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {},
}

func (c *Config) needsCluster(method string) error {
	if _, ok := withoutCluster[method]; ok || !c.standalone() {
		return nil
	}
	return rpcerror.New(rpcerror.Standalone, "this server runs standalone, without a cluster; ask one that has a cluster for "+method)
}

func (c *Config) needsClusterUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := c.needsCluster(info.FullMethod); err != nil {
		return nil, err
	}
	return handler(ctx, request)
}

func (c *Config) needsClusterStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := c.needsCluster(info.FullMethod); err != nil {
		return err
	}
	return handler(service, stream)
}
