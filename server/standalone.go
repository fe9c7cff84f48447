package server

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/reconciler"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/translate"
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

// standalone tells whether the server has no cluster.
func (c *Config) standalone() bool { return c.Reconciler == nil }

// ready returns an error that says what is missing while plans cannot be made.
func (c *Config) ready() error {
	if c.Certificate != nil {
		if err := c.Certificate.Ready(); err != nil {
			return err
		}
	}
	if !c.standalone() {
		return c.Reconciler.Ready()
	}
	if _, err := c.Ratios.Ready(); err != nil {
		return &reconciler.NotReadyError{What: reconciler.RatiosNotReady, Err: err}
	}
	return nil
}

// unknownOwners says which kinds of workloads cannot be read, nil if all can.
func (c *Config) unknownOwners() error {
	if c.standalone() {
		return nil
	}
	return c.Reconciler.UnknownOwners()
}

// live returns an error if the server does nothing any more.
func (c *Config) live() error {
	if c.standalone() {
		return nil
	}
	return c.Reconciler.Live()
}

// planner plans pods that are not in the cluster. The error is that what the
// cluster allows is not known yet.
func (c *Config) planner() (*reconciler.Planner, error) {
	if c.standalone() {
		return c.Planner, nil
	}
	if err := c.Reconciler.Ready(); err != nil {
		return nil, translate.Error(err)
	}
	return &c.Reconciler.Planner, nil
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

// unstorable says what cannot be stored for want of a ConfigMap; nil if nothing.
func (c *Config) unstorable() error {
	var overrides, holds, samples error
	if c.Overrides != nil {
		overrides = c.Overrides.Missing()
	}
	if c.Holds != nil {
		holds = c.Holds.Missing()
	}
	if c.Benchmarks != nil {
		samples = c.Benchmarks.Missing()
	}
	return errors.Join(overrides, holds, samples)
}
