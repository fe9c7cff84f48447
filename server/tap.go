package server

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/tap"
)

// tap checks a call when its headers have arrived, before gRPC buffers its request. It runs
// where the connection is read, so it must not block.
func (g *guards) tap(ctx context.Context, info *tap.Info) (context.Context, error) {
	caller, err := g.access.Glance(ctx, info.FullMethodName)
	if err == nil {
		ctx, err = g.pending.Enter(ctx, caller)
	}
	if err != nil {
		g.refused.Inc()
	}
	return ctx, err
}

// newRefused returns a counter of calls that tap refused. They are in no other metric.
func newRefused() prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "workload_resizer_grpc_refused_total",
		Help: "API calls that were refused before their requests arrived: without plausible credentials, or because too many were waiting for their requests.",
	})
}
