package client

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// withDefaultTimeout gives a unary call a deadline if its context has none. A stream gets
// none, because its duration depends on the size of the cluster.
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

// plain returns the status that err wraps. After the last attempt, gRPC wraps the server's
// status in "max retries exhausted: …", which would hide the server's message from the
// user. If the server cannot authenticate the caller, plain adds what to do.
func (o *options) plain(err error) error {
	var wrapped interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &wrapped) {
		return err
	}
	s := wrapped.GRPCStatus()
	if s.Code() == codes.Unauthenticated && o.unauthenticated != "" {
		p := s.Proto()
		p.Message += "\n" + o.unauthenticated
		s = status.FromProto(p)
	}
	return s.Err()
}

func (o *options) plainUnaryErrors(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return o.plain(invoke(ctx, method, req, reply, cc, opts...))
}

func (o *options) plainStreamErrors(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, stream grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	s, err := stream(ctx, desc, cc, method, opts...)
	if err != nil {
		return nil, o.plain(err)
	}
	return plainStream{s, o}, nil
}

type plainStream struct {
	grpc.ClientStream
	options *options
}

func (s plainStream) RecvMsg(m any) error { return s.options.plain(s.ClientStream.RecvMsg(m)) }
