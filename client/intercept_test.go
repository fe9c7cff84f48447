package client

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// lastPause is a server that keeps the last pause.
type lastPause struct {
	workloadresizerv1.UnimplementedHoldServiceServer
	asked *workloadresizerv1.PauseRequest
}

func (s *lastPause) Pause(_ context.Context, req *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	s.asked = req
	return &workloadresizerv1.PauseResponse{}, nil
}

func TestFillIn(t *testing.T) {
	const own = "0a1b2c3d-0000-4000-8000-000000000001"
	for _, tc := range []struct {
		name    string
		opts    []Option
		request *workloadresizerv1.PauseRequest
		author  string
	}{
		{"sends no author without one", nil, &workloadresizerv1.PauseRequest{}, ""},
		{"sends the author without credentials", []Option{WithAuthor("ann")}, &workloadresizerv1.PauseRequest{}, "ann"},
		{"prefers the author in the request", []Option{WithAuthor("ann")}, &workloadresizerv1.PauseRequest{Author: "ben"}, "ben"},
		{"sends no author with a token, because the server knows the caller", []Option{WithAuthor("ann"), WithToken("secret")}, &workloadresizerv1.PauseRequest{}, ""},
		{"keeps the request_id in the request", nil, &workloadresizerv1.PauseRequest{RequestId: own}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &lastPause{}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterHoldServiceServer(s, server) }, tc.opts...)
			before := tc.request.String()
			if _, err := c.Pause(t.Context(), tc.request); err != nil {
				t.Fatal(err)
			}
			if got := server.asked.GetAuthor(); got != tc.author {
				t.Errorf("the author is %q, want %q", got, tc.author)
			}
			if _, err := uuid.Parse(server.asked.GetRequestId()); err != nil || tc.request.GetRequestId() != "" && server.asked.GetRequestId() != own {
				t.Errorf("the request_id is %q: %v", server.asked.GetRequestId(), err)
			}
			if tc.request.String() != before {
				t.Error("changed the caller's request")
			}
		})
	}
}

func TestWithMethods(t *testing.T) {
	server := &lastPause{}
	register := func(s *grpc.Server) { workloadresizerv1.RegisterHoldServiceServer(s, server) }
	read := dialServices(t, register, WithMethods(workloadresizerv1.HoldService_GetFreeze_FullMethodName))
	if _, err := read.Pause(t.Context(), &workloadresizerv1.PauseRequest{}); status.Code(err) != codes.PermissionDenied || server.asked != nil {
		t.Errorf("a method that is not listed: %v, asked %v", err, server.asked)
	}
	if _, err := read.GetFreeze(t.Context()); status.Code(err) != codes.Unimplemented {
		t.Errorf("a method that is listed does not reach the server: %v", err)
	}
	stream, err := read.Plans().PreviewManifest(t.Context())
	if status.Code(err) != codes.PermissionDenied || stream != nil {
		t.Errorf("a stream that is not listed: %v", err)
	}
}

func TestAnonymous(t *testing.T) {
	if o := optionsOf([]Option{WithClientCertificate("a", "b")}); o.anonymous() {
		t.Error("a client certificate names the caller")
	}
	if o := optionsOf([]Option{WithTLS()}); !o.anonymous() {
		t.Error("TLS alone does not name the caller")
	}
}

// endless is a server whose list of workloads never ends.
type endless struct {
	workloadresizerv1.UnimplementedClusterServiceServer
	// follows returns the token of the page after one.
	follows func(token string) string
	pages   int
}

func (s *endless) ListWorkloads(_ context.Context, req *workloadresizerv1.ListWorkloadsRequest) (*workloadresizerv1.ListWorkloadsResponse, error) {
	s.pages++
	return &workloadresizerv1.ListWorkloadsResponse{
		Workloads: []*workloadresizerv1.WorkloadSummary{{Savings: &workloadresizerv1.Savings{Namespace: strings.Repeat("n", 1000)}}}, NextPageToken: s.follows(req.GetPageToken()),
	}, nil
}

func TestEndlessLists(t *testing.T) {
	for _, tc := range []struct {
		name    string
		follows func(string) string
		code    codes.Code
		pages   int
	}{
		{"a page that follows itself", func(string) string { return "again" }, codes.DataLoss, 2},
		{"more than the caller keeps", func(token string) string { return token + "x" }, codes.ResourceExhausted, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := &endless{follows: tc.follows}
			c := dialServices(t, func(s *grpc.Server) { workloadresizerv1.RegisterClusterServiceServer(s, server) })
			_, err := c.ListWorkloads(LimitAnswers(t.Context(), 10_000), &workloadresizerv1.ListWorkloadsRequest{})
			if status.Code(err) != tc.code || server.pages != tc.pages {
				t.Errorf("after %d pages: %v", server.pages, err)
			}
			// Each context has its own limit.
			if _, err := c.Cluster().ListWorkloads(t.Context(), &workloadresizerv1.ListWorkloadsRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWeight checks that messages count that take memory although they have hardly any bytes.
func TestWeight(t *testing.T) {
	empty := make([]*workloadresizerv1.WorkloadSummary, 1000)
	for i := range empty {
		empty[i] = &workloadresizerv1.WorkloadSummary{Savings: &workloadresizerv1.Savings{}}
	}
	answer := &workloadresizerv1.ListNodesResponse{Nodes: []*workloadresizerv1.NodeSummary{{Name: "n", Resources: map[string]*workloadresizerv1.NodeShare{"cpu": {Allocatable: "4"}}}}}
	if got, want := weight(answer), int64(proto.Size(answer)+4*messageBytes); got != want { // The answer, the node, the entry and its value.
		t.Errorf("%d, want %d", got, want)
	}
	if got := weight(&workloadresizerv1.ListWorkloadsResponse{Workloads: empty}); got < 2000*messageBytes {
		t.Errorf("1000 empty workloads take %d bytes", got)
	}
}

func BenchmarkWeight(b *testing.B) {
	answer := &workloadresizerv1.ListWorkloadsResponse{}
	for range 10_000 {
		both := &workloadresizerv1.ResourceAmounts{Cpu: "1", Memory: "1Gi"}
		answer.Workloads = append(answer.Workloads, &workloadresizerv1.WorkloadSummary{
			Savings: &workloadresizerv1.Savings{Namespace: "shop", Workload: &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}, Authored: both, Requested: both, Saved: both, Used: both},
			Pods:    []*workloadresizerv1.PodCount{{Code: "AlreadyAligned", Pods: 3}},
		})
	}
	for b.Loop() {
		weight(answer)
	}
}
