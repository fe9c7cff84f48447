package cmdtest

import (
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

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type planSender = grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]

// Server is a server that answers as a test scripts, and remembers its requests. Err, if set,
// ends every call; Hang makes it wait until the caller goes away first. Plans are sent before
// either.
type Server struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	workloadresizerv1.UnimplementedOverrideServiceServer
	workloadresizerv1.UnimplementedPlanServiceServer
	workloadresizerv1.UnimplementedResizeServiceServer
	workloadresizerv1.UnimplementedHoldServiceServer
	workloadresizerv1.UnimplementedStatusServiceServer
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	workloadresizerv1.UnimplementedUsageServiceServer
	RatioScript
	BenchmarkScript

	Ratios *workloadresizerv1.ListRatiosResponse
	Rules  []*workloadresizerv1.RatioRule
	Plans  []*workloadresizerv1.Plan
	// Resumed is the plan of any pod without holds; nil for the one in Plans.
	Resumed *workloadresizerv1.Plan
	Summary *workloadresizerv1.PlanSummary
	Holds   []*workloadresizerv1.Hold
	// Progress answers GetHold.
	Progress *workloadresizerv1.HoldProgress
	Problem  string
	Freezes  *workloadresizerv1.Freeze
	// WithoutEmergencies makes it a server that does not know emergency restores.
	WithoutEmergencies bool
	// These describe the scope of a hold in answers.
	Pods   *int64
	Nested int64
	Wider  *workloadresizerv1.Hold
	Err    error
	Hang   bool
	// Resizing has the answers about resizes and manifests, in a file of its own.
	Resizing ResizingScript
	// Usage has the answers about usage, in a file of its own; nil for none.
	Usage *UsageScript
	// Asked is called when a request has arrived.
	Asked func()

	mu   sync.Mutex
	last proto.Message
	// writes are the requests that change something, in order.
	writes []proto.Message
}

// note remembers a request, without its request_id, which is random.
func (s *Server) note(req proto.Message) {
	if field := req.ProtoReflect().Descriptor().Fields().ByName("request_id"); field != nil {
		req = proto.Clone(req)
		req.ProtoReflect().Clear(field)
	}
	s.mu.Lock()
	s.last = req
	switch req.(type) {
	case *workloadresizerv1.RestoreRequest, *workloadresizerv1.PauseRequest, *workloadresizerv1.ResumeRequest,
		*workloadresizerv1.FreezeRequest, *workloadresizerv1.UnfreezeRequest,
		*workloadresizerv1.BatchUpdateOverridesRequest, *workloadresizerv1.DeleteOverrideRequest, *workloadresizerv1.RollbackOverridesRequest,
		*workloadresizerv1.UpdateOverrideRequest:
		s.writes = append(s.writes, req)
	}
	s.mu.Unlock()
	if s.Asked != nil {
		s.Asked()
	}
}

// LastRequest returns the last request that arrived.
func (s *Server) LastRequest() proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Written returns the requests to change something, including those that only validate.
func (s *Server) Written() []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *Server) end(ctx context.Context) error {
	if s.Hang {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	return s.Err
}

// PreviewPod implements workloadresizerv1.PlanServiceServer.
func (s *Server) PreviewPod(ctx context.Context, req *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if s.Resumed != nil && req.GetWhatIf().GetWithoutHolds() {
		return &workloadresizerv1.PreviewPodResponse{Plan: s.Resumed}, nil
	}
	for _, plan := range s.Plans {
		if plan.GetPod() == req.GetPod() {
			return &workloadresizerv1.PreviewPodResponse{Plan: plan}, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "there is no pod %s/%s", req.GetNamespace(), req.GetPod())
}

// PreviewPlans implements workloadresizerv1.PlanServiceServer.
func (s *Server) PreviewPlans(req *workloadresizerv1.PreviewPlansRequest, stream planSender) error {
	s.note(req)
	if s.Resizing.Plans != nil {
		return s.Resizing.sendPlans(req, stream)
	}
	for _, plan := range s.Plans {
		if err := stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Plan{Plan: plan}}); err != nil {
			return err
		}
	}
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	if s.Summary == nil {
		return nil
	}
	return stream.Send(&workloadresizerv1.PreviewPlansResponse{Result: &workloadresizerv1.PreviewPlansResponse_Summary{Summary: s.Summary}})
}

// Serve starts the server on this machine and returns its address.
func Serve(t *testing.T, s *Server, opts ...grpc.ServerOption) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(append(opts, grpc.ChainUnaryInterceptor(s.Resizing.refuse))...)
	workloadresizerv1.RegisterRatioServiceServer(server, s)
	workloadresizerv1.RegisterOverrideServiceServer(server, s)
	workloadresizerv1.RegisterPlanServiceServer(server, s)
	workloadresizerv1.RegisterResizeServiceServer(server, s)
	workloadresizerv1.RegisterHoldServiceServer(server, s)
	workloadresizerv1.RegisterStatusServiceServer(server, s)
	workloadresizerv1.RegisterBenchmarkServiceServer(server, s)
	workloadresizerv1.RegisterUsageServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		// A test that never calls may end before the server has started.
		if err := <-served; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// Nobody returns an address where no server answers.
func Nobody(t *testing.T) string {
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

// WithReason returns an error with a reason, as the server does.
func WithReason(code codes.Code, reason, message string) error {
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "workload-resizer.io"})
	if err != nil {
		panic(err) // It is neither OK nor too large.
	}
	return s.Err()
}
