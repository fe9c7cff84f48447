package cmdtest

import (
	"context"
	"errors"
	"io"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// BenchmarkScript has the scripted server's responses about benchmarks.
type BenchmarkScript struct {
	// Benchmarks are listed in pages of two.
	Benchmarks  []*workloadresizerv1.Benchmark
	feeds       []*workloadresizerv1.Feed
	suggestions []*workloadresizerv1.Suggestion
	// Ingested is the response of IngestSamples. If it is nil, the server accepts all samples.
	Ingested *workloadresizerv1.IngestSamplesResponse
	// sent are the streams of samples that arrived, each as one message.
	sent []*workloadresizerv1.IngestSamplesRequest
}

// IngestSamples implements workloadresizerv1.BenchmarkServiceServer.
func (s *Server) IngestSamples(stream grpc.ClientStreamingServer[workloadresizerv1.IngestSamplesRequest, workloadresizerv1.IngestSamplesResponse]) error {
	all := &workloadresizerv1.IngestSamplesRequest{}
	for {
		part, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		proto.Merge(all, part)
	}
	s.note(all)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	s.mu.Lock()
	s.sent = append(s.sent, all)
	s.mu.Unlock()
	if s.Ingested != nil {
		return stream.SendAndClose(s.Ingested)
	}
	return stream.SendAndClose(&workloadresizerv1.IngestSamplesResponse{Stored: int64(len(all.GetSamples()))})
}

// SentSamples returns the streams of samples that arrived.
func (s *Server) SentSamples() []*workloadresizerv1.IngestSamplesRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// ListBenchmarks implements workloadresizerv1.BenchmarkServiceServer.
func (s *Server) ListBenchmarks(ctx context.Context, req *workloadresizerv1.ListBenchmarksRequest) (*workloadresizerv1.ListBenchmarksResponse, error) {
	s.note(proto.Clone(req))
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	begin, _ := strconv.Atoi(req.GetPageToken())
	end := min(begin+2, len(s.Benchmarks))
	resp := &workloadresizerv1.ListBenchmarksResponse{Benchmarks: s.Benchmarks[begin:end]}
	if end < len(s.Benchmarks) {
		resp.NextPageToken = strconv.Itoa(end)
	}
	return resp, nil
}

// ListFeeds implements workloadresizerv1.BenchmarkServiceServer.
func (s *Server) ListFeeds(ctx context.Context, req *workloadresizerv1.ListFeedsRequest) (*workloadresizerv1.ListFeedsResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ListFeedsResponse{Feeds: s.feeds}, nil
}

// GetSuggestion implements workloadresizerv1.BenchmarkServiceServer.
func (s *Server) GetSuggestion(ctx context.Context, req *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	for _, suggestion := range s.suggestions {
		if suggestion.GetNodeType() == req.GetNodeType() {
			resp := &workloadresizerv1.GetSuggestionResponse{Suggestion: suggestion}
			if suggestion.Ratio != nil {
				resp.Impact = s.Impact
			}
			return resp, nil
		}
	}
	return nil, status.Errorf(codes.NotFound, "no benchmark covers %q", req.GetNodeType())
}

// ListSuggestions implements workloadresizerv1.BenchmarkServiceServer.
func (s *Server) ListSuggestions(ctx context.Context, req *workloadresizerv1.ListSuggestionsRequest) (*workloadresizerv1.ListSuggestionsResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return &workloadresizerv1.ListSuggestionsResponse{Suggestions: s.suggestions, BaselineNodeType: "n2d"}, nil
}
