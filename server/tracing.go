package server

import (
	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// traced returns the options that trace calls of the API, with a link to the span that the
// caller sends. Calls that need no credentials, such as probes, are not traced.
func (c *Config) traced() []grpc.ServerOption {
	if c.Traces == nil {
		return nil
	}
	return []grpc.ServerOption{grpc.StatsHandler(otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(c.Traces),
		// The spans of callers are linked, not continued: a caller that chooses the trace
		// would decide how much is sampled.
		otelgrpc.WithPublicEndpoint(),
		otelgrpc.WithPropagators(propagation.TraceContext{}),
		otelgrpc.WithFilter(func(call *stats.RPCTagInfo) bool { return !access.Exempt(call.FullMethodName) }),
	))}
}
