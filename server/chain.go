package server

import (
	"context"

	"google.golang.org/grpc"
)

// chain is a call on its way through the interceptors. grpc.ChainUnaryInterceptor would make a
// function per interceptor and call. Each interceptor must call its handler at most once.
type chain struct {
	left    []grpc.UnaryServerInterceptor
	info    *grpc.UnaryServerInfo
	service grpc.UnaryHandler
	// next is pass.
	next grpc.UnaryHandler
}

// chained returns an interceptor that calls all others in order.
func chained(all ...grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, service grpc.UnaryHandler) (any, error) {
		c := &chain{left: all, info: info, service: service}
		c.next = c.pass
		return c.pass(ctx, request)
	}
}

func (c *chain) pass(ctx context.Context, request any) (any, error) {
	if len(c.left) == 0 {
		return c.service(ctx, request)
	}
	first := c.left[0]
	c.left = c.left[1:]
	return first(ctx, request, c.info, c.next)
}
