package client

import (
	"context"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// usageServer has four recommendations in pages of two, for each namespace.
type usageServer struct {
	workloadresizerv1.UnimplementedUsageServiceServer
	*watchServer
}

func (s usageServer) ListRecommendations(_ context.Context, req *workloadresizerv1.ListRecommendationsRequest) (*workloadresizerv1.ListRecommendationsResponse, error) {
	from, _ := strconv.Atoi(req.GetPageToken())
	resp := &workloadresizerv1.ListRecommendationsResponse{Currency: "USD"}
	for i := from; i < from+2; i++ {
		resp.Recommendations = append(resp.Recommendations, &workloadresizerv1.Recommendation{Namespace: req.GetNamespace(), Container: strconv.Itoa(i)})
	}
	if from+2 < 4 {
		resp.NextPageToken = strconv.Itoa(from + 2)
	}
	return resp, nil
}

func (s usageServer) ListSavings(_ context.Context, req *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
	resp := &workloadresizerv1.ListSavingsResponse{Savings: []*workloadresizerv1.Savings{{Namespace: req.GetNamespace() + req.GetPageToken()}}, Currency: "USD"}
	if req.GetPageToken() == "" {
		resp.NextPageToken = "-2"
	}
	return resp, nil
}

func (s usageServer) GetRecommendation(_ context.Context, req *workloadresizerv1.GetRecommendationRequest) (*workloadresizerv1.GetRecommendationResponse, error) {
	if req.GetWorkload().GetName() != "web" {
		return nil, reasoned(codes.NotFound, "USAGE_UNKNOWN")
	}
	return &workloadresizerv1.GetRecommendationResponse{Currency: req.GetNamespace()}, nil
}

func (s usageServer) GetUsageHistory(_ context.Context, req *workloadresizerv1.GetUsageHistoryRequest) (*workloadresizerv1.GetUsageHistoryResponse, error) {
	return &workloadresizerv1.GetUsageHistoryResponse{NodeTypes: []*workloadresizerv1.NodeTypeHistory{
		{NodeType: req.GetNamespace() + "/" + req.GetWorkload().GetName() + "/" + req.GetContainer()},
	}}, nil
}

func (s usageServer) GetUsageStatus(context.Context, *workloadresizerv1.GetUsageStatusRequest) (*workloadresizerv1.GetUsageStatusResponse, error) {
	return &workloadresizerv1.GetUsageStatusResponse{Containers: 3}, nil
}

func (s usageServer) WatchRecommendations(req *workloadresizerv1.WatchRecommendationsRequest, stream grpc.ServerStreamingServer[workloadresizerv1.WatchRecommendationsResponse]) error {
	return s.serve(req.GetResumeToken(), func(name, token string) error {
		return stream.Send(&workloadresizerv1.WatchRecommendationsResponse{
			Type: added, Recommendation: &workloadresizerv1.Recommendation{Namespace: req.GetNamespace(), Container: name}, ResumeToken: token,
		})
	})
}

func dialUsage(t *testing.T, turns ...turn) *Client {
	t.Helper()
	return dialServices(t, func(server *grpc.Server) {
		workloadresizerv1.RegisterUsageServiceServer(server, usageServer{watchServer: newWatchServer(t, turns...)})
	})
}

func TestUsage(t *testing.T) {
	t.Run("lists the recommendations of all pages, with their currency", listsTheRecommendationsOfAllPages)
	t.Run("lists the savings of all pages, with their currency", listsTheSavingsOfAllPages)
	t.Run("returns one workload, its history, and the sources", returnsOneWorkloadItsHistoryAndTheSources)
	t.Run("resumes a watch of recommendations after the last event", resumesAWatchOfRecommendations)
}

func listsTheRecommendationsOfAllPages(t *testing.T) {
	request := &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop"}
	all, err := dialUsage(t).ListRecommendations(t.Context(), request)
	if err != nil || all.GetCurrency() != "USD" || all.GetNextPageToken() != "" || len(all.GetRecommendations()) != 4 {
		t.Fatalf("got %v, %v", all, err)
	}
	for i, r := range all.GetRecommendations() {
		if r.GetNamespace() != "shop" || r.GetContainer() != strconv.Itoa(i) {
			t.Errorf("recommendation %d is %v", i, r)
		}
	}
	if !proto.Equal(request, &workloadresizerv1.ListRecommendationsRequest{Namespace: "shop"}) {
		t.Error("changed the caller's request")
	}
}

func listsTheSavingsOfAllPages(t *testing.T) {
	all, err := dialUsage(t).ListSavings(t.Context(), &workloadresizerv1.ListSavingsRequest{Namespace: "shop"})
	if err != nil || all.GetCurrency() != "USD" || all.GetNextPageToken() != "" || len(all.GetSavings()) != 2 || all.GetSavings()[1].GetNamespace() != "shop-2" {
		t.Errorf("got %v, %v", all, err)
	}
}

func returnsOneWorkloadItsHistoryAndTheSources(t *testing.T) {
	c := dialUsage(t)
	web := &workloadresizerv1.Workload{Kind: "Deployment", Name: "web"}
	if got, err := c.GetRecommendation(t.Context(), "shop", web); err != nil || got.GetCurrency() != "shop" {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := c.GetRecommendation(t.Context(), "shop", &workloadresizerv1.Workload{Kind: "Deployment", Name: "other"}); Reason(err) != "USAGE_UNKNOWN" {
		t.Errorf("got %v", err)
	}
	if got, err := c.GetUsageHistory(t.Context(), "shop", web, "app"); err != nil || got.GetNodeTypes()[0].GetNodeType() != "shop/web/app" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := c.GetUsageStatus(t.Context()); err != nil || got.GetContainers() != 3 {
		t.Errorf("got %v, %v", got, err)
	}
}

func resumesAWatchOfRecommendations(t *testing.T) {
	c := dialUsage(t, turn{token: "a", sends: []string{"b"}}, turn{token: "b", sends: []string{"c"}})
	var got []string
	for event, err := range c.WatchRecommendations(t.Context(), &workloadresizerv1.WatchRecommendationsRequest{Namespace: "shop", ResumeToken: "a"}) {
		if err != nil || event.Object.GetNamespace() != "shop" {
			t.Fatalf("got %v, %v", event, err)
		}
		if got = append(got, event.Object.GetContainer()); len(got) == 2 {
			break
		}
	}
	if len(got) != 2 || got[0] != "b" || got[1] != "c" {
		t.Errorf("got %q", got)
	}
}
