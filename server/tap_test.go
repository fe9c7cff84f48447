package server

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// A refused call ends immediately, before its request has arrived, and takes the timer of its
// deadline with it.
func TestRefusal(t *testing.T) {
	calls := make(chan context.Context, 1)
	refused := status.Error(codes.Unauthenticated, "refused")
	s := grpc.NewServer(grpc.ChainStreamInterceptor(refuseStream), grpc.InTapHandle(func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		calls <- ctx
		return context.WithValue(ctx, refusalKey{}, refused), nil
	}))
	t.Cleanup(s.Stop)
	healthv1.RegisterHealthServer(registrar{s}, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	for _, method := range []grpc.StreamDesc{{StreamName: "Check"}, {StreamName: "Watch", ServerStreams: true}} {
		t.Run(method.StreamName, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 1000*time.Hour)
			defer cancel()
			call, err := conn.NewStream(ctx, &method, "/grpc.health.v1.Health/"+method.StreamName) // No request is sent.
			if err != nil {
				t.Fatal(err)
			}
			if err := call.RecvMsg(new(healthv1.HealthCheckResponse)); status.Code(err) != codes.Unauthenticated {
				t.Fatalf("got %v, want the call refused", err)
			}
			select {
			case <-(<-calls).Done():
			case <-time.After(30 * time.Second):
				t.Error("the deadline of the call outlasts it")
			}
		})
	}
}
