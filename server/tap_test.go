package server

import (
	"context"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// The context of a refused call ends with its connection, however late its deadline is.
func TestLifetimes(t *testing.T) {
	calls := make(chan context.Context, 1)
	s := grpc.NewServer(grpc.StatsHandler(lifetimes{}), grpc.InTapHandle(func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		calls <- ctx
		return ctx, status.Error(codes.Unauthenticated, "refused")
	}))
	t.Cleanup(s.Stop)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := healthv1.NewHealthClient(conn).Check(ctx, nil); status.Code(err) != codes.Unauthenticated {
		t.Fatalf("got %v, want the call refused", err)
	}
	refused := <-calls
	if refused.Err() != nil {
		t.Fatal("the call ended with its refusal; gRPC no longer needs the help")
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-refused.Done():
	case <-time.After(30 * time.Second):
		t.Error("the call outlasts its connection")
	}
}
