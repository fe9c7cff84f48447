package server

import (
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// traced returns the options that have calls of the API traced, with a link to the
// span that a caller names. What anybody may call, as probes do, is not.
func (c *Config) traced() []grpc.ServerOption {
	if c.Traces == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(c.Traces),
		// Callers' spans are linked: with a trace of their own choice they would
		// decide how much is sampled.
		otelgrpc.WithPublicEndpoint(),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(func(call *stats.RPCTagInfo) bool { return !access.Exempt(call.FullMethodName) }),
	))}
}
