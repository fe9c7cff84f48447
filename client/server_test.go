package client

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ratioServer and planServer answer as a test scripts.
type ratioServer struct {
	workloadresizerv1.UnimplementedRatioServiceServer
	list func(context.Context) (*workloadresizerv1.ListRatiosResponse, error)
}

func (s ratioServer) ListRatios(ctx context.Context, _ *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	return s.list(ctx)
}

type planServer struct {
	workloadresizerv1.UnimplementedPlanServiceServer
	manifest func(*workloadresizerv1.PreviewManifestRequest) (*workloadresizerv1.PreviewManifestResponse, error)
	pod      func(context.Context, *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error)
	plans    func(*workloadresizerv1.PreviewPlansRequest, grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error
}

func (s planServer) PreviewPod(ctx context.Context, req *workloadresizerv1.PreviewPodRequest) (*workloadresizerv1.PreviewPodResponse, error) {
	return s.pod(ctx, req)
}

func (s planServer) PreviewPlans(req *workloadresizerv1.PreviewPlansRequest, stream grpc.ServerStreamingServer[workloadresizerv1.PreviewPlansResponse]) error {
	return s.plans(req, stream)
}

// PreviewManifest passes on the messages as one.
func (s planServer) PreviewManifest(stream grpc.ClientStreamingServer[workloadresizerv1.PreviewManifestRequest, workloadresizerv1.PreviewManifestResponse]) error {
	whole, text := &workloadresizerv1.PreviewManifestRequest{}, ""
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !utf8.ValidString(part.GetManifest()) || proto.Size(part) > 64<<10 {
			return status.Error(codes.InvalidArgument, "a part is too large, or splits a character")
		}
		text += part.GetManifest()
		proto.Merge(whole, part)
	}
	whole.Manifest = text
	response, err := s.manifest(whole)
	if err != nil {
		return err
	}
	return stream.SendAndClose(response)
}

type holdServer struct {
	workloadresizerv1.UnimplementedHoldServiceServer
	calls int
	// ids are the request_ids of the calls.
	ids map[string]bool
	// fail, if set, ends every call.
	fail error
}

var held = &workloadresizerv1.Hold{Kind: workloadresizerv1.HoldKind_HOLD_KIND_PAUSE, Scope: &workloadresizerv1.HoldScope{Scope: &workloadresizerv1.HoldScope_Namespace{Namespace: "shop"}}}

// called notes a call. Calls without a request_id have an empty one.
func (s *holdServer) called(id string) error {
	s.calls++
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = true
	return s.fail
}

func (s *holdServer) Restore(_ context.Context, req *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return &workloadresizerv1.RestoreResponse{Hold: held}, s.called(req.GetRequestId())
}

func (s *holdServer) Pause(_ context.Context, req *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	return &workloadresizerv1.PauseResponse{Hold: held}, s.called(req.GetRequestId())
}

func (s *holdServer) Resume(context.Context, *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	return &workloadresizerv1.ResumeResponse{Released: []*workloadresizerv1.Hold{held}}, s.called("")
}

func (s *holdServer) GetHold(context.Context, *workloadresizerv1.GetHoldRequest) (*workloadresizerv1.GetHoldResponse, error) {
	return &workloadresizerv1.GetHoldResponse{Hold: held}, s.called("")
}

func (s *holdServer) ListHolds(_ context.Context, req *workloadresizerv1.ListHoldsRequest) (*workloadresizerv1.ListHoldsResponse, error) {
	response := &workloadresizerv1.ListHoldsResponse{Holds: []*workloadresizerv1.Hold{held}}
	if req.GetPageToken() == "" {
		response.NextPageToken = "2"
	}
	return response, s.called("")
}

// dial returns a client of a server on this machine with these services.
func dial(t *testing.T, ratios ratioServer, plans planServer, opts ...Option) *Client {
	t.Helper()
	return dialServices(t, func(server *grpc.Server) {
		workloadresizerv1.RegisterRatioServiceServer(server, ratios)
		workloadresizerv1.RegisterPlanServiceServer(server, plans)
	}, opts...)
}

func dialServices(t *testing.T, register func(*grpc.Server), opts ...Option) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c, err := Dial(listener.Addr().String(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// reasoned returns an error with a reason, as the server does.
func reasoned(code codes.Code, reason string) error {
	return reasonedAs(code, reason, "the server's message")
}

func reasonedAs(code codes.Code, reason, message string) error {
	s, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "workload-resizer.io"})
	if err != nil {
		panic(err) // It is neither OK nor too large.
	}
	return s.Err()
}

// notReady returns the error of a server that has no ratios yet.
func notReady() error {
	return reasonedAs(codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap ns/name does not exist")
}
