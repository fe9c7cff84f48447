package deliver

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// answer is the server's response to one call.
type answer struct {
	err    error
	errors []*workloadresizerv1.SampleError
}

// scripted gives its answers in order, and then repeats the last one.
type scripted struct {
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	answers []answer
	got     [][]*workloadresizerv1.BenchmarkSample
}

func (s *scripted) IngestSamples(stream grpc.ClientStreamingServer[workloadresizerv1.IngestSamplesRequest, workloadresizerv1.IngestSamplesResponse]) error {
	request, err := stream.Recv()
	if err != nil {
		return err
	}
	s.got = append(s.got, request.GetSamples())
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	if a.err != nil {
		return a.err
	}
	return stream.SendAndClose(&workloadresizerv1.IngestSamplesResponse{Errors: a.errors})
}

func rejection(index int64, code workloadresizerv1.SampleErrorCode) *workloadresizerv1.SampleError {
	return &workloadresizerv1.SampleError{Index: index, Id: "b", Code: code, Field: "score", Message: "must be above 0"}
}

func TestSend(t *testing.T) {
	const (
		unknown = workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_UNKNOWN
		invalid = workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_INVALID
	)
	unavailable := answer{err: status.Error(codes.Unavailable, "SAMPLES_NOT_STORED")}
	unknownBoth := answer{errors: []*workloadresizerv1.SampleError{rejection(0, unknown), rejection(1, unknown)}}
	for _, tc := range []struct {
		name     string
		answers  []answer
		sent     []int // Samples in each of the first calls.
		says     string
		rejected bool
	}{
		{"sends all samples in one call", []answer{{}}, []int{2}, "", false},
		{"retries while the server restarts", []answer{unavailable, unavailable, {}}, []int{2, 2, 2}, "", false},
		{"retries while the node is unknown", []answer{unknownBoth, {}}, []int{2, 2}, "", false},
		{"sends only missing samples again", []answer{{errors: []*workloadresizerv1.SampleError{rejection(1, unknown)}}, {}}, []int{2, 1}, "", false},
		{"does not send rejected samples again", []answer{{errors: []*workloadresizerv1.SampleError{rejection(1, invalid)}}}, []int{2}, "b: score must be above 0", true},
		{"sends missing samples again without rejected ones", []answer{{errors: []*workloadresizerv1.SampleError{rejection(0, invalid), rejection(1, unknown)}}, {}}, []int{2, 1}, "rejected samples", true},
		{"does not retry permanent errors", []answer{{err: status.Error(codes.PermissionDenied, "you may not")}}, []int{2}, "send samples: you may not", false},
		{"gives up if the node stays unknown", []answer{unknownBoth}, []int{2, 2, 2}, `does not know node "n4-1" yet; gave up after 5m0s`, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &scripted{answers: tc.answers}
				sender := &Sender{Client: connect(t, server), Node: "n4-1"}
				began := time.Now()
				err := sender.Send(t.Context(), []sample.Sample{{ID: "a"}, {ID: "b"}})
				if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || Rejected(err) != tc.rejected {
					t.Errorf("got error %v, want %q", err, tc.says)
				}
				for i, n := range tc.sent {
					if i >= len(server.got) || len(server.got[i]) != n {
						t.Fatalf("call %d: want %d samples, calls %v", i, n, server.got)
					}
				}
				if took := time.Since(began); took > patience+callTimeout {
					t.Errorf("took %v", took)
				}
				if s := server.got[0][0]; s.GetNode() != "n4-1" || s.GetNodeType() != "" || s.GetMachine() != "" {
					t.Errorf("sent %v", s)
				}
			})
		})
	}
}

// connect returns a client with an in-memory connection to the server.
func connect(t *testing.T, s workloadresizerv1.BenchmarkServiceServer) workloadresizerv1.BenchmarkServiceClient {
	return workloadresizerv1.NewBenchmarkServiceClient(dial(t, func(server *grpc.Server) { workloadresizerv1.RegisterBenchmarkServiceServer(server, s) }))
}

// dial returns an in-memory connection to a server.
func dial(t *testing.T, register func(*grpc.Server)) *grpc.ClientConn {
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	register(server)
	go func() { _ = server.Serve(listener) }()
	conn, err := grpc.NewClient("passthrough:///test", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return listener.Dial() }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); server.Stop() })
	return conn
}

// A process that is stopped has not tried for as long as it would have.
func TestSendThatIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &scripted{answers: []answer{{err: status.Error(codes.Unavailable, "no route")}}}
		sender := &Sender{Client: connect(t, server), Node: "n4-1"}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		const want = "send samples: the server is unavailable: no route; stopped before it was tried again"
		if err := sender.Send(ctx, []sample.Sample{{ID: "a"}}); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	})
}
