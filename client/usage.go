package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ListRecommendations returns what the containers that the request selects request, use and need,
// with the currency of costs. It requests all pages, from the one in the request, each of the
// request's page_size.
func (c *Client) ListRecommendations(ctx context.Context, request *workloadresizerv1.ListRecommendationsRequest) (*workloadresizerv1.ListRecommendationsResponse, error) {
	return whole(pages(ctx, request, c.usage.ListRecommendations), func(to, page *workloadresizerv1.ListRecommendationsResponse) {
		to.Recommendations = append(to.Recommendations, page.GetRecommendations()...)
	})
}

// GetRecommendation returns what the containers of one workload need, and each step that led to
// it. It fails as NOT_FOUND (reason USAGE_UNKNOWN) if no running pod of it counts and nothing was measured.
func (c *Client) GetRecommendation(ctx context.Context, namespace string, workload *workloadresizerv1.Workload) (*workloadresizerv1.GetRecommendationResponse, error) {
	return c.usage.GetRecommendation(ctx, &workloadresizerv1.GetRecommendationRequest{Namespace: namespace, Workload: workload})
}

// RecommendationEvent is an event of WatchRecommendations.
type RecommendationEvent = Event[*workloadresizerv1.Recommendation]

// WatchRecommendations yields the recommendations of the workloads that the request selects, a
// bookmark, and from then on every change. A resume_token in the request is the same as ResumeFrom.
// Otherwise it works like WatchRatios.
func (c *Client) WatchRecommendations(ctx context.Context, request *workloadresizerv1.WatchRecommendationsRequest, opts ...WatchOption) iter.Seq2[RecommendationEvent, error] {
	open := func(ctx context.Context, token string) (func() (*workloadresizerv1.WatchRecommendationsResponse, error), error) {
		from := proto.CloneOf(request)
		from.ResumeToken = token
		stream, err := c.usage.WatchRecommendations(ctx, from)
		if err != nil {
			return nil, err
		}
		return stream.Recv, nil
	}
	opts = append([]WatchOption{ResumeFrom(request.GetResumeToken())}, opts...)
	return watch(ctx, opts, open, (*workloadresizerv1.WatchRecommendationsResponse).GetRecommendation)
}

// ListSavings returns what pods request, compared with what their authors wrote, and what they use, with the
// currency of costs. It requests all pages, from the one in the request, each of the request's page_size.
func (c *Client) ListSavings(ctx context.Context, request *workloadresizerv1.ListSavingsRequest) (*workloadresizerv1.ListSavingsResponse, error) {
	return whole(pages(ctx, request, c.usage.ListSavings), func(to, page *workloadresizerv1.ListSavingsResponse) {
		to.Savings = append(to.Savings, page.GetSavings()...)
	})
}

// ListWorkloads returns the workloads that have pods, what these request, use and need, and the last decisions on them, with the
// currency of costs. It requests all pages, from the one in the request, each of the request's page_size.
func (c *Client) ListWorkloads(ctx context.Context, request *workloadresizerv1.ListWorkloadsRequest) (*workloadresizerv1.ListWorkloadsResponse, error) {
	return whole(pages(ctx, request, c.cluster.ListWorkloads), func(to, page *workloadresizerv1.ListWorkloadsResponse) {
		to.Workloads = append(to.Workloads, page.GetWorkloads()...)
	})
}

// ListNodes yields the nodes by name. It requests the pages as needed, from the one in the request, each of the request's
// page_size. An error is yielded once, last.
func (c *Client) ListNodes(ctx context.Context, request *workloadresizerv1.ListNodesRequest) iter.Seq2[*workloadresizerv1.NodeSummary, error] {
	return items(pages(ctx, request, c.cluster.ListNodes), (*workloadresizerv1.ListNodesResponse).GetNodes)
}

// GetUsageHistory returns what the containers of a workload with one name used, as measured. It
// fails as NOT_FOUND (reason USAGE_UNKNOWN) if they were not measured.
func (c *Client) GetUsageHistory(ctx context.Context, namespace string, workload *workloadresizerv1.Workload, container string) (*workloadresizerv1.GetUsageHistoryResponse, error) {
	return c.usage.GetUsageHistory(ctx, &workloadresizerv1.GetUsageHistoryRequest{Namespace: namespace, Workload: workload, Container: container})
}

// GetUsageStatus returns the state of the sources of usage and of the storage of history.
func (c *Client) GetUsageStatus(ctx context.Context) (*workloadresizerv1.GetUsageStatusResponse, error) {
	return c.usage.GetUsageStatus(ctx, &workloadresizerv1.GetUsageStatusRequest{})
}
