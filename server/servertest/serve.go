package servertest

import (
	"context"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"

	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/rules"
)

// Service is a service of the API.
type Service interface{ Register(grpc.ServiceRegistrar) }

// Connect serves services to local callers, which may do everything that the rules of the API
// allow, and returns a connection to them.
func Connect(t testing.TB, services ...Service) *grpc.ClientConn {
	t.Helper()
	local, checker := access.New(access.Config{Local: true}), rules.New()
	server := grpc.NewServer(
		grpc.ChainUnaryInterceptor(local.AuthenticateUnary, checker.Unary),
		grpc.ChainStreamInterceptor(local.AuthenticateStream, checker.Stream),
	)
	for _, s := range services {
		s.Register(server)
	}
	return Dial(t, Serve(t, server))
}

// Serve runs a server that the test has created, until the test ends.
func Serve(t testing.TB, server *grpc.Server) net.Listener {
	t.Helper()
	listener := Listen(t)
	Run(t, func(context.Context) error { return server.Serve(listener) })
	t.Cleanup(server.Stop) // Runs before the cleanup of Run.
	return listener
}

// Run runs parts until the test ends. None of them may return an error.
func Run(t testing.TB, parts ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, len(parts))
	for _, part := range parts {
		go func() { done <- part(ctx) }()
	}
	t.Cleanup(func() {
		cancel()
		for range parts {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
}

// Listen returns a listener that only this machine can connect to.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Dial connects in plaintext until the test ends.
func Dial(t testing.TB, to net.Listener, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(to.Addr().String(), append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// As returns the context of a call by a user with this name.
func As(t *testing.T, name string) context.Context {
	return access.NewContext(t.Context(), access.Caller{Name: name})
}

// Quiet disables the log, so that it does not affect benchmarks.
func Quiet() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// Arrived is a stream whose request the server has received.
type Arrived struct {
	grpc.ServerStream
	Ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *Arrived) Context() context.Context { return s.Ctx }

// RecvMsg implements grpc.ServerStream.
func (s *Arrived) RecvMsg(any) error { return nil }
