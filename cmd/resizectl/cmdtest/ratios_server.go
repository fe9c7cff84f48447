package cmdtest

import (
	"context"
	"fmt"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// RatioScript is what the scripted server answers to writes and watches, and about the
// history.
type RatioScript struct {
	// Overrides are listed in pages of one.
	Overrides []*workloadresizerv1.Override
	// Changes is the history, newest first.
	Changes []*workloadresizerv1.OverrideChange
	Impact  *workloadresizerv1.Impact
	// Unchanged makes writes change nothing.
	Unchanged bool
	// Refused fails writes, but not dry runs.
	Refused error
	// Unconfirmed fails writes that do not allow implausible ratios.
	Unconfirmed error
	Watches     Streams[*workloadresizerv1.WatchRatiosResponse]
}

// ListRatios implements workloadresizerv1.RatioServiceServer.
func (s *Server) ListRatios(ctx context.Context, req *workloadresizerv1.ListRatiosRequest) (*workloadresizerv1.ListRatiosResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	return s.Ratios, nil
}

// ListRatioRules implements workloadresizerv1.RatioServiceServer. It has pages of one rule.
func (s *Server) ListRatioRules(ctx context.Context, req *workloadresizerv1.ListRatioRulesRequest) (*workloadresizerv1.ListRatioRulesResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	resp := &workloadresizerv1.ListRatioRulesResponse{Revision: s.Ratios.GetRevision()}
	resp.Rules, resp.NextPageToken = pageOf(s.Rules, req.GetPageToken(), 1)
	return resp, nil
}

// pageOf returns a page of items, which tokens number by the items before it.
func pageOf[T any](items []T, token string, size int) (page []T, next string) {
	begin, _ := strconv.Atoi(token) // Empty for the first page.
	end := min(begin+size, len(items))
	if end < len(items) {
		next = strconv.Itoa(end)
	}
	return items[begin:end], next
}

// GetRatio implements workloadresizerv1.RatioServiceServer.
func (s *Server) GetRatio(ctx context.Context, req *workloadresizerv1.GetRatioRequest) (*workloadresizerv1.GetRatioResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	ratios := s.Ratios.GetRatios()
	for _, rule := range s.Rules {
		if rule.GetName() == req.GetRule() {
			ratios = rule.GetRatios()
		}
	}
	if ratio := RatioIn(ratios, req.GetNodeType()); ratio != nil {
		return &workloadresizerv1.GetRatioResponse{Ratio: ratio, Revision: s.Ratios.GetRevision()}, nil
	}
	return nil, WithReason(codes.NotFound, "NODE_TYPE_UNKNOWN", fmt.Sprintf("node type %q has no ratio", req.GetNodeType()))
}

// WatchRatios implements workloadresizerv1.RatioServiceServer.
func (s *Server) WatchRatios(req *workloadresizerv1.WatchRatiosRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRatiosResponse]) error {
	s.note(req)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return s.Watches.serve(stream.Context(), req.GetResumeToken(), stream.Send)
}
