package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// benchmarkServer counts the samples that it receives, and lists two benchmarks per page.
type benchmarkServer struct {
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	parts     []int
	largest   int
	ids       []string
	validated bool
	list      []string
	// fail, if set, ends every call immediately.
	fail error
}

func (s *benchmarkServer) IngestSamples(stream grpc.ClientStreamingServer[workloadresizerv1.IngestSamplesRequest, workloadresizerv1.IngestSamplesResponse]) error {
	if s.fail != nil {
		return s.fail
	}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&workloadresizerv1.IngestSamplesResponse{Stored: int64(len(s.ids))})
		}
		if err != nil {
			return err
		}
		s.largest = max(s.largest, proto.Size(part))
		s.parts, s.validated = append(s.parts, len(part.GetSamples())), part.GetValidateOnly()
		for _, sample := range part.GetSamples() {
			s.ids = append(s.ids, sample.GetId())
		}
	}
}

func (s *benchmarkServer) ListBenchmarks(_ context.Context, req *workloadresizerv1.ListBenchmarksRequest) (*workloadresizerv1.ListBenchmarksResponse, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	begin := 0
	if req.GetPageToken() != "" {
		if _, err := fmt.Sscan(req.GetPageToken(), &begin); err != nil {
			return nil, err
		}
	}
	resp := &workloadresizerv1.ListBenchmarksResponse{}
	for _, name := range s.list[begin:min(begin+2, len(s.list))] {
		resp.Benchmarks = append(resp.Benchmarks, &workloadresizerv1.Benchmark{Benchmark: name})
	}
	if begin+2 < len(s.list) {
		resp.NextPageToken = fmt.Sprint(begin + 2)
	}
	return resp, nil
}

func dialBenchmarks(t *testing.T, s *benchmarkServer) *Client {
	t.Helper()
	return dialServices(t, func(server *grpc.Server) { workloadresizerv1.RegisterBenchmarkServiceServer(server, s) })
}

func samplesOf(n int) []*workloadresizerv1.BenchmarkSample {
	samples := make([]*workloadresizerv1.BenchmarkSample, n)
	for i := range samples {
		samples[i] = &workloadresizerv1.BenchmarkSample{Id: fmt.Sprint(i)}
	}
	return samples
}

func TestBenchmarks(t *testing.T) {
	t.Run("sends samples in parts and in order", sendsSamplesInPartsAndInOrder)
	t.Run("returns the server's reason if it rejects samples", returnsTheServersReasonIfItRejectsSamples)
	t.Run("keeps parts below the message size limit", keepsPartsBelowTheMessageSizeLimit)
}

func sendsSamplesInPartsAndInOrder(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want string
	}{{0, "[]"}, {1, "[1]"}, {1000, "[1000]"}, {2001, "[1000 1000 1]"}} {
		server := &benchmarkServer{}
		resp, err := dialBenchmarks(t, server).IngestSamples(t.Context(), samplesOf(tc.n), true)
		if err != nil || resp.GetStored() != int64(tc.n) || fmt.Sprint(server.parts) != tc.want || server.validated != (tc.n > 0) {
			t.Errorf("%d samples: %v, %v; parts %v, validated %v", tc.n, resp, err, server.parts, server.validated)
		}
		for i, id := range server.ids {
			if id != fmt.Sprint(i) {
				t.Fatalf("sample %d is %s", i, id)
			}
		}
	}
}

func returnsTheServersReasonIfItRejectsSamples(t *testing.T) {
	c := dialBenchmarks(t, &benchmarkServer{fail: reasoned(codes.FailedPrecondition, "READ_ONLY")})
	if _, err := c.IngestSamples(t.Context(), samplesOf(100_000), false); Reason(err) != "READ_ONLY" {
		t.Errorf("got %v", err)
	}
}

// The samples are as long as validation allows.
func keepsPartsBelowTheMessageSizeLimit(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	var samples []*workloadresizerv1.BenchmarkSample
	for range 500 {
		samples = append(samples, &workloadresizerv1.BenchmarkSample{
			Id: long(128), Node: long(253), NodeType: long(63), InstanceType: long(128), CpuModel: long(63), Benchmark: long(128), Version: long(64),
			Score: math.MaxFloat64, Unit: long(64), Vcpus: math.MaxInt32, Threads: math.MaxInt32, SingleThreadScore: proto.Float64(math.MaxFloat64),
			Runs: proto.Int32(math.MaxInt32), Machine: long(253), MeasureTime: timestamppb.Now(), SpotCheck: true, Source: long(63),
		})
	}
	server := &benchmarkServer{}
	if _, err := dialBenchmarks(t, server).IngestSamples(t.Context(), samples, true); err != nil {
		t.Fatal(err)
	}
	if len(server.ids) != len(samples) || server.largest > 64<<10 {
		t.Errorf("%d samples arrived, in parts of up to %d bytes", len(server.ids), server.largest)
	}
}

func TestBenchmarksArePaged(t *testing.T) {
	server := &benchmarkServer{list: []string{"a", "b", "c", "d", "e"}}
	c := dialBenchmarks(t, server)
	var got []string
	for benchmark, err := range c.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, benchmark.GetBenchmark())
	}
	if strings.Join(got, "") != "abcde" {
		t.Errorf("got %v", got)
	}
	server.fail = reasoned(codes.FailedPrecondition, "BENCHMARKS_DISABLED")
	for benchmark, err := range c.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{}) {
		if benchmark != nil || Reason(err) != "BENCHMARKS_DISABLED" {
			t.Errorf("got %v, %v", benchmark, err)
		}
	}
}
