package server

import (
	"context"
	"net"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"github.com/workload-resizer/workload-resizer/server/limits"
)

// tap checks a call when its headers have arrived, before gRPC buffers its request. It runs
// where the connection is read, so it must not block. It does not end a call that it refuses,
// because gRPC would not stop the timer of its deadline, which can be years away: the call ends
// before its request is received, with the error that refusalOf returns.
func (g *guards) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	var remote net.Addr
	if from, ok := peer.FromContext(ctx); ok {
		remote = from.Addr
	}
	if err := movedError(info.FullMethodName); err != nil {
		limits.Refused(remote)
		return context.WithValue(ctx, refusalKey{}, err), nil
	}
	ctx, caller, err := g.access.PreAuthenticate(ctx, info.FullMethodName)
	if err != nil {
		g.refused.Inc()
		limits.Refused(remote)
		return context.WithValue(ctx, refusalKey{}, err), nil
	}
	limits.Used(remote, caller)
	return g.pending.Enter(ctx, caller), nil
}

type refusalKey struct{}

// refusalOf returns why tap refused a call; nil if it did not.
func refusalOf(ctx context.Context) error {
	err, _ := ctx.Value(refusalKey{}).(error)
	return err
}

// refuseStream ends streams that tap refused. It must be the first interceptor.
func refuseStream(service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := refusalOf(stream.Context()); err != nil {
		return err
	}
	return handler(service, stream)
}

// registrar ends unary calls that tap refused, which interceptors could only do once the
// request has arrived. It adds the methods that each service had before.
type registrar struct{ *grpc.Server }

// RegisterService implements grpc.ServiceRegistrar.
func (r registrar) RegisterService(desc *grpc.ServiceDesc, service any) {
	guarded := *desc
	guarded.Methods = append(slices.Clone(desc.Methods), movedFrom(desc.ServiceName)...)
	for i := range guarded.Methods {
		handle := guarded.Methods[i].Handler
		guarded.Methods[i].Handler = func(service any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
			if err := refusalOf(ctx); err != nil {
				return nil, err
			}
			response, err := handle(service, ctx, decode, interceptor)
			return response, limits.Cause(ctx, err)
		}
	}
	r.Server.RegisterService(&guarded, service)
}

// newRefused returns a counter of calls that tap refused. They are in no other metric.
func newRefused() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "workload_resizer_grpc_refused_total",
		Help: "API calls that were refused before their requests arrived, because they had no plausible credentials.",
	})
}
