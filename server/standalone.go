package server

import (
	"context"

	"google.golang.org/grpc"

	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

func (c *Config) needsCluster(method string) error {
	if access.Clusterless(method) || !c.standalone() {
		return nil
	}
	return rpcerror.New(rpcerror.Standalone, "this server runs standalone, without a cluster; use a server with a cluster for "+method)
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
