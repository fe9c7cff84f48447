package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// withDefaultTimeout gives a unary call a deadline if its context has none. A
// stream gets none: how long it may take depends on the size of the cluster.
func withDefaultTimeout(timeout time.Duration) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if _, has := ctx.Deadline(); !has && timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

// plain returns the status that err wraps. After the last attempt gRPC wraps
// the server's status in "max retries exhausted: …", which would hide the
// message that the server wrote for people.
func plain(err error) error {
	var wrapped interface{ GRPCStatus() *status.Status }
	if errors.As(err, &wrapped) {
		return wrapped.GRPCStatus().Err()
	}
	return err
}

func plainUnaryErrors(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return plain(invoke(ctx, method, req, reply, cc, opts...))
}

func plainStreamErrors(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := stream(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, plain(err)
	}
	return plainStream{s}, nil
}

type plainStream struct{ grpc.ClientStream }

func (s plainStream) RecvMsg(m any) error { return plain(s.ClientStream.RecvMsg(m)) }
