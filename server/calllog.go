package server

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// logUnary logs one line per call at -v=1, and costs nothing below that.
func logUnary(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if !klog.FromContext(ctx).V(1).Enabled() {
		return handler(ctx, request)
	}
	ctx, caller := access.NewRecord(ctx)
	start := time.Now()
	response, err := handler(ctx, request)
	logCall(ctx, info.FullMethod, caller, start, err)
	return response, err
}

// logStream is logUnary for streams. It logs when the stream ends.
func logStream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if !klog.FromContext(stream.Context()).V(1).Enabled() {
		return handler(service, stream)
	}
	ctx, caller := access.NewRecord(stream.Context())
	start := time.Now()
	err := handler(service, &loggedStream{stream, ctx})
	logCall(ctx, info.FullMethod, caller, start, err)
	return err
}

type loggedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *loggedStream) Context() context.Context { return s.ctx }

func logCall(ctx context.Context, method string, caller *access.Record, start time.Time, err error) {
	fields := []any{"method", method, "caller", caller.String(), "code", status.Code(err).String(), "duration", time.Since(start)}
	if credential := caller.Credential(); credential != "" {
		fields = append(fields, "credential", credential)
	}
	if from, ok := peer.FromContext(ctx); ok {
		fields = append(fields, "peer", from.Addr.String())
	}
	if err != nil {
		fields = append(fields, "err", err)
	}
	klog.FromContext(ctx).V(1).Info("Call ended", fields...)
}
