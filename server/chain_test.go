package server

import (
	"context"
	"errors"
	"slices"
	"testing"

	"google.golang.org/grpc"
)

func TestChain(t *testing.T) {
	type key struct{}
	var order []string
	step := func(name string) grpc.UnaryServerInterceptor {
		return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			order = append(order, name, info.FullMethod)
			return handler(context.WithValue(ctx, key{}, name), request.(string)+name)
		}
	}
	refused := errors.New("refused")
	var refuse grpc.UnaryServerInterceptor = func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
		return nil, refused
	}
	var service grpc.UnaryHandler = func(ctx context.Context, request any) (any, error) {
		order = append(order, ctx.Value(key{}).(string))
		return request, nil
	}
	info := &grpc.UnaryServerInfo{FullMethod: "/m"}
	t.Run("calls the interceptors in order, and then the service", func(t *testing.T) {
		call := chained(step("a"), step("b"))
		for range 2 {
			order = nil
			if got, err := call(t.Context(), "r", info, service); got != "rab" || err != nil || !slices.Equal(order, []string{"a", "/m", "b", "/m", "b"}) {
				t.Errorf("%v, %v, in the order %v", got, err, order)
			}
		}
	})
	t.Run("an interceptor that refuses ends the call", func(t *testing.T) {
		order = nil
		if _, err := chained(step("a"), refuse, step("b"))(t.Context(), "r", info, service); !errors.Is(err, refused) || !slices.Equal(order, []string{"a", "/m"}) {
			t.Errorf("%v, in the order %v", err, order)
		}
	})
}
