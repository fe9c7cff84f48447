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

// Service is one of the API.
type Service interface{ Register(grpc.ServiceRegistrar) }

// Connect serves services to callers of this machine, who may do everything that the
// rules of the API allow, and returns a connection to them.
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

// Serve serves what the test has made itself, until it ends.
func Serve(t testing.TB, server *grpc.Server) net.Listener {
	t.Helper()
	listener := Listen(t)
	Run(t, func(context.Context) error { return server.Serve(listener) })
	t.Cleanup(server.Stop) // It comes before the end of Run.
	return listener
}

// Run runs parts of a test until it ends; none may fail.
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

// Listen listens where only this machine can connect.
func Listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Dial connects in plaintext, until the test ends.
func Dial(t testing.TB, to net.Listener, opts ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(to.Addr().String(), append(opts, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// As is the context of a call by somebody with this name.
func As(t *testing.T, name string) context.Context {
	return access.NewContext(t.Context(), access.Caller{Name: name})
}

// Quiet keeps the log out of the figures of a benchmark.
func Quiet() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// Arrived is a stream that the server has received the request of.
type Arrived struct {
	grpc.ServerStream
	Ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *Arrived) Context() context.Context { return s.Ctx }

// RecvMsg implements grpc.ServerStream.
func (s *Arrived) RecvMsg(any) error { return nil }
