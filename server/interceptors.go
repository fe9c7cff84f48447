package server

import (
	"context"
	"fmt"
	"runtime/debug"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"k8s.io/klog/v2"
)

// The order is the same for unary calls and streams: metrics first, so that
// denied calls count; recovery inside them, so that a panic is counted and
// logged as the error it becomes.

func unaryInterceptors(metrics *grpcprom.ServerMetrics) []grpc.UnaryServerInterceptor {
	return []grpc.UnaryServerInterceptor{
		metrics.UnaryServerInterceptor(),
		logging.UnaryServerInterceptor(logger(), logOptions()),
		recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(recovered)),
		authorizeUnary,
	}
}

func streamInterceptors(metrics *grpcprom.ServerMetrics) []grpc.StreamServerInterceptor {
	return []grpc.StreamServerInterceptor{
		metrics.StreamServerInterceptor(),
		logging.StreamServerInterceptor(logger(), logOptions()),
		recovery.StreamServerInterceptor(recovery.WithRecoveryHandlerContext(recovered)),
		authorizeStream,
	}
}

// logger writes one line per call at -v=1.
func logger() logging.Logger {
	return logging.LoggerFunc(func(ctx context.Context, level logging.Level, message string, fields ...any) {
		klog.FromContext(ctx).V(1).Info(message, fields...)
	})
}

func logOptions() logging.Option { return logging.WithLogOnEvents(logging.FinishCall) }

// recovered turns a panic into an error that tells the caller nothing of our
// insides; the log has the stack.
func recovered(ctx context.Context, cause any) error {
	klog.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "Call panicked", "stack", string(debug.Stack()))
	return statusError(codes.Internal, reasonInternal, "the server failed on this call; its log says why")
}
