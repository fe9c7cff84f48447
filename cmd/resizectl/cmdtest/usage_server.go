package cmdtest

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// UsageScript has the scripted server's responses about usage.
type UsageScript struct {
	// Recommendations are listed in pages of two.
	Recommendations []*workloadresizerv1.Recommendation
	Currency        string
	// Savings are listed in pages of two.
	Savings []*workloadresizerv1.Savings
	// Explained answers GetRecommendation, by the name of the workload.
	Explained map[string][]*workloadresizerv1.ExplainedRecommendation
	History   []*workloadresizerv1.NodeTypeHistory
	Sources   *workloadresizerv1.GetUsageStatusResponse
	Watches   Streams[*workloadresizerv1.WatchRecommendationsResponse]
}

// ListRecommendations implements workloadresizerv1.UsageServiceServer.
func (s *Server) ListRecommendations(ctx context.Context, req *workloadresizerv1.ListRecommendationsRequest) (*workloadresizerv1.ListRecommendationsResponse, error) {
	s.note(proto.Clone(req))
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	var selected []*workloadresizerv1.Recommendation
	for _, r := range s.usage().Recommendations {
		inNamespace := req.GetNamespace() == "" || r.GetNamespace() == req.GetNamespace()
		if inNamespace && (req.GetWorkload() == nil || proto.Equal(r.GetWorkload(), countsFor(req.GetWorkload()))) {
			selected = append(selected, r)
		}
	}
	resp := &workloadresizerv1.ListRecommendationsResponse{Currency: s.usage().Currency}
	if req.GetPageToken() == "" && len(selected) > 2 {
		resp.Recommendations, resp.NextPageToken = selected[:2], "2"
		return resp, nil
	}
	if req.GetPageToken() == "2" {
		selected = selected[2:]
	}
	resp.Recommendations = selected
	return resp, nil
}

// ListSavings implements workloadresizerv1.UsageServiceServer.
func (s *Server) ListSavings(ctx context.Context, req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
	s.note(proto.Clone(req))
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	var selected []*workloadresizerv1.Savings
	for _, of := range s.usage().Savings {
		inNamespace := req.GetNamespace() == "" || of.GetNamespace() == req.GetNamespace()
		if inNamespace && (req.GetWorkload() == nil || proto.Equal(of.GetWorkload(), countsFor(req.GetWorkload()))) {
			selected = append(selected, of)
		}
	}
	resp := &workloadresizerv1.ListSavingsResponse{Currency: s.usage().Currency}
	if req.GetPageToken() == "2" {
		selected = selected[2:]
	} else if len(selected) > 2 {
		selected, resp.NextPageToken = selected[:2], "2"
	}
	resp.Savings = selected
	return resp, nil
}

// GetRecommendation implements workloadresizerv1.UsageServiceServer.
func (s *Server) GetRecommendation(ctx context.Context, req *workloadresizerv1.GetRecommendationRequest) (*workloadresizerv1.GetRecommendationResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	containers, known := s.usage().Explained[req.GetWorkload().GetName()]
	if !known {
		return nil, usageUnknown(req.GetNamespace(), req.GetWorkload())
	}
	return &workloadresizerv1.GetRecommendationResponse{Containers: containers, Currency: s.usage().Currency}, nil
}

// WatchRecommendations implements workloadresizerv1.UsageServiceServer.
func (s *Server) WatchRecommendations(req *workloadresizerv1.WatchRecommendationsRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRecommendationsResponse]) error {
	s.note(req)
	if err := s.end(stream.Context()); err != nil {
		return err
	}
	return s.usage().Watches.serve(stream.Context(), req.GetResumeToken(), stream.Send)
}

// GetUsageHistory implements workloadresizerv1.UsageServiceServer.
func (s *Server) GetUsageHistory(ctx context.Context, req *workloadresizerv1.GetUsageHistoryRequest) (*workloadresizerv1.GetUsageHistoryResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if len(s.usage().History) == 0 {
		return nil, usageUnknown(req.GetNamespace(), req.GetWorkload())
	}
	return &workloadresizerv1.GetUsageHistoryResponse{NodeTypes: s.usage().History, Workload: countsFor(req.GetWorkload())}, nil
}

// GetUsageStatus implements workloadresizerv1.UsageServiceServer.
func (s *Server) GetUsageStatus(ctx context.Context, req *workloadresizerv1.GetUsageStatusRequest) (*workloadresizerv1.GetUsageStatusResponse, error) {
	s.note(req)
	if err := s.end(ctx); err != nil {
		return nil, err
	}
	if s.usage().Sources == nil {
		return nil, status.Error(codes.Unimplemented, "method GetUsageStatus not implemented")
	}
	return s.usage().Sources, nil
}

// countsFor returns what the pods of a workload count for: those of a ReplicaSet here count for a StatefulSet.
func countsFor(of *workloadresizerv1.Workload) *workloadresizerv1.Workload {
	if of.GetKind() != "ReplicaSet" {
		return of
	}
	return &workloadresizerv1.Workload{Kind: "StatefulSet", Name: of.GetName()}
}

func usageUnknown(namespace string, workload *workloadresizerv1.Workload) error {
	return WithReason(codes.NotFound, "USAGE_UNKNOWN", "the usage of workload "+namespace+"/"+workload.GetKind()+"/"+workload.GetName()+" is not known: the server knows no pod of it, and nothing was measured of it in the time that history is kept for")
}

// usage returns the script; a server without one knows nothing.
func (s *Server) usage() *UsageScript {
	if s.Usage == nil {
		return &UsageScript{}
	}
	return s.Usage
}
