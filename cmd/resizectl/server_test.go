package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type planSender = grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]

// scripted is a server that answers what a test says, and remembers what it was
// asked. err, if set, ends every call; hang lets it wait for the caller to go
// away first. Plans are sent before either.
type scripted struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	workloadresizerv1.UnimplementedPlanServiceServer
	workloadresizerv1.UnimplementedPauseServiceServer
	workloadresizerv1.UnimplementedResizeServiceServer
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	scriptedRatios
	scriptedBenchmarks

	ratios  *workloadresizerv1.ListRatiosResponse
	plans   []*workloadresizerv1.Plan
	summary *workloadresizerv1.PlanSummary
	holds   []*workloadresizerv1.Hold
	problem string
	// What is said besides of the scope of a hold.
	pods   *int64
	nested int64
	wider  *workloadresizerv1.Hold
	err    error
	hang   bool
	// What is said of resizes and manifests is in a file of its own.
	resizing resizingScript
	// asked is called when a call has come in.
	asked func()

	mu   sync.Mutex
	last proto.Message
	// writes are the requests that change something, in order.
	writes []proto.Message
}

func (s *scripted) note(req proto.Message) {
	s.mu.Lock()
	s.last = req
	switch req.(type) {
	case *workloadresizerv1.RestoreRequest, *workloadresizerv1.PauseRequest, *workloadresizerv1.ResumeRequest,
		*workloadresizerv1.BatchUpdateRatiosRequest, *workloadresizerv1.DeleteRatioRequest, *workloadresizerv1.RollbackRatiosRequest,
		*workloadresizerv1.UpdateRatioRequest:
		s.writes = append(s.writes, req)
	}
	s.mu.Unlock()
	if s.asked != nil {
		s.asked()
	}
}

// lastRequest is the last request that came in.
func (s *scripted) lastRequest() proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// written are the requests that change something that came in, also those that
// only validate.
func (s *scripted) written() []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *scripted) end(ctx context.Context) error {
	if s.hang {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	return s.err
}

func (s *scripted) ListRatios(ctx context.Context, req *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return s.ratios, nil
}

func (s *scripted) PreviewPod(ctx context.Context, req *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	for _, plan := range s.plans {
		if plan.GetPod() == req.GetPod() {
			return &workloadresizerv1.PreviewPodResponse{Plan: plan}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
}

func (s *scripted) PreviewPlans(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
	s.note(req)
	if s.resizing.plans != nil {
		return s.resizing.sendPlans(req, stream)
	}
	for _, plan := range s.plans {
		if err := stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: plan}}); err != nil {
			return err
		}
	}
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	if s.summary == nil {
		return nil
	}
	return stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: s.summary}})
}

// serve starts the server on this machine and returns its address.
func serve(t *testing.T, s *scripted, opts ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(opts, grpc.ChainUnaryInterceptor(s.resizing.refuse))...)
	workloadresizerv1.RegisterRatioServiceServer(server, s)
	workloadresizerv1.RegisterPlanServiceServer(server, s)
	workloadresizerv1.RegisterPauseServiceServer(server, s)
	workloadresizerv1.RegisterResizeServiceServer(server, s)
	workloadresizerv1.RegisterBenchmarkServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		// A test that never calls may end before the server has begun.
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// nobody returns an address where no server answers.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// resizectl runs a command line and returns what a shell would see.
func resizectl(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	// cobra takes nil arguments for those of the test binary.
	args = append([]string{}, args...)
	code = run(ctx, genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errOut}, args)
	return code, out.String(), errOut.String()
}

// withReason is an error as the server makes them.
func withReason(t *testing.T, code codes.Code, reason, message string) error {
	t.Helper()
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "workload-resizer.io"})
	if err != nil {
		t.Fatal(err)
	}
	return s.Err()
}
