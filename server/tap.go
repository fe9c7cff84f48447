package server

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/tap"

	"github.com/workload-resizer/workload-resizer/server/limits"
)

// tap checks a call when its headers have arrived, before gRPC buffers its request. It runs
// where the connection is read, so it must not block.
func (g *guards) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	var remote net.Addr
	if from, ok := peer.FromContext(ctx); ok {
		remote = from.Addr
	}
	caller, err := g.access.Glance(ctx, info.FullMethodName)
	if err != nil {
		g.refused.Inc()
		limits.Refused(remote)
		return ctx, err
	}
	limits.Used(remote, caller)
	return g.pending.Enter(ctx, caller), nil
}

// newRefused returns a counter of calls that tap refused. They are in no other metric.
func newRefused() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "workload_resizer_grpc_refused_total",
		Help: "API calls that were refused before their requests arrived, because they had no plausible credentials.",
	})
}

// lifetimes ends the context of each connection with the connection. gRPC does not: the
// deadline of a call that tap refuses, which can be years away, would keep its memory.
type lifetimes struct{}

type endKey struct{}

// TagConn implements stats.Handler.
func (lifetimes) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, endKey{}, cancel)
}

// HandleConn implements stats.Handler.
func (lifetimes) HandleConn(ctx context.Context, event stats.ConnStats) {
	if _, ended := event.(*stats.ConnEnd); ended {
		ctx.Value(endKey{}).(context.CancelFunc)()
	}
}

// TagRPC implements stats.Handler.
func (lifetimes) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC implements stats.Handler.
func (lifetimes) HandleRPC(context.Context, stats.RPCStats) {}
