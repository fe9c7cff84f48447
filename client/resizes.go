package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ListResizes yields the resizes of the pods that the request selects, ordered by namespace
// and name. It requests page after page as needed, of the request's page_size. An error is
// yielded once, last.
func (c *Client) ListResizes(ctx context.Context, request *workloadresizerv1.ListResizesRequest) iter.Seq2[*workloadresizerv1.Resize, error] {
	return func(yield func(*workloadresizerv1.Resize, error) bool) {
		page := proto.CloneOf(request)
		for {
			resp, err := c.resizes.ListResizes(ctx, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, resize := range resp.GetResizes() {
				if !yield(resize, nil) {
					return
				}
			}
			if resp.GetNextPageToken() == "" {
				return
			}
			page.PageToken = resp.GetNextPageToken()
		}
	}
}

// GetResize returns what was done to one pod. It fails as NOT_FOUND if there is no such pod
// (reason POD_NOT_FOUND) or if the pod was not sized (reason NOT_RESIZED).
func (c *Client) GetResize(ctx context.Context, namespace, pod string) (*workloadresizerv1.Resize, error) {
	resp, err := c.resizes.GetResize(ctx, &workloadresizerv1.GetResizeRequest{Namespace: namespace, Pod: pod})
	if err != nil {
		return nil, err
	}
	return resp.GetResize(), nil
}

// ResizeEvent is an event of WatchResizes.
type ResizeEvent = Event[*workloadresizerv1.Resize]

// WatchResizes yields the resizes of the pods in a namespace, a bookmark, and from then on
// every change. An empty namespace is every namespace that the caller may see. Otherwise it
// works like WatchRatios.
func (c *Client) WatchResizes(ctx context.Context, namespace string, opts ...WatchOption) iter.Seq2[ResizeEvent, error] {
	open := func(ctx context.Context, token string) (func() (*workloadresizerv1.WatchResizesResponse, error), error) {
		stream, err := c.resizes.WatchResizes(ctx, &workloadresizerv1.WatchResizesRequest{Namespace: namespace, ResumeToken: token})
		if err != nil {
			return nil, err
		}
		return stream.Recv, nil
	}
	return watch(ctx, opts, open, (*workloadresizerv1.WatchResizesResponse).GetResize)
}

// Status returns the state of the reconciler.
func (c *Client) Status(ctx context.Context) (*workloadresizerv1.GetStatusResponse, error) {
	return c.resizes.GetStatus(ctx, &workloadresizerv1.GetStatusRequest{})
}
