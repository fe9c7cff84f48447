package server

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
	"github.com/workload-resizer/workload-resizer/server/rules"
)

// The order is the same for unary calls and streams. First come the refusals of tap and the
// arrival of the request, which ends the time limit for it. Metrics come next, so that denied
// calls count, and recovery inside them, so that a panic is counted and logged as the error that
// it becomes. Cheap checks come before expensive ones: the rate of calls, rights, other limits,
// then the rules of the API.

// guards checks calls before they reach a service, in this order.
type guards struct {
	access *access.Access
	// config has the cluster, if there is one.
	config  *Config
	limits  *limits.Limiter
	pending *limits.Pending
	rules   *rules.Checker
	panics  prometheus.Counter
	// refused counts calls that tap refused.
	refused prometheus.Counter
}

func newGuards(config *Config) *guards {
	return &guards{
		access: config.Access, config: config, limits: limits.New(config.Limits), pending: limits.NewPending(), rules: rules.New(),
		panics: newPanics(), refused: newRefused(),
	}
}

func (g *guards) unary(metrics *callMetrics) grpc.UnaryServerInterceptor {
	return chained(
		g.pending.Unary,
		metrics.unary,
		logUnary,
		recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(g.recovered)),
		g.access.AuthenticateUnary,
		g.limits.PaceUnary,
		g.access.AuthorizeUnary,
		g.config.needsClusterUnary,
		g.limits.Unary,
		g.rules.Unary,
	)
}

func (g *guards) stream(metrics *callMetrics) []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{
		refuseStream,
		g.pending.Stream,
		metrics.StreamServerInterceptor(),
		logStream,
		recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(g.recovered)),
		g.access.AuthenticateStream,
		g.limits.PaceStream,
		g.access.AuthorizeStream,
		g.config.needsClusterStream,
		g.limits.Stream,
		g.rules.Stream,
	}
}

// recovered turns a panic into an error that reveals no internals to the caller. The stack is
// in the log.
func (g *guards) recovered(ctx context.Context, cause any) error {
	g.panics.Inc()
	klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "Call panicked", "stack", string(debug.Stack()))
	return rpcerror.New(rpcerror.Internal, "internal server error: see the log of the server")
}
