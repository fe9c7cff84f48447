package client

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ListResizes yields what was done to the pods that the request selects, by
// namespace and name, and asks for page after page meanwhile; its page_size is how
// many to ask for at once. An error is yielded once, last.
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

// GetResize returns what was done to one pod. NOT_FOUND if there is no such pod
// (reason POD_NOT_FOUND) or it was not sized (reason NOT_RESIZED).
func (c *Client) GetResize(ctx context.Context, namespace, pod string) (*workloadresizerv1.Resize, error) {
	resp, err := c.resizes.GetResize(ctx, &workloadresizerv1.GetResizeRequest{Namespace: namespace, Pod: pod})
	if err != nil {
		return nil, err
	}
	return resp.GetResize(), nil
}

// ResizeEvent is an event of WatchResizes.
type ResizeEvent = Event[*workloadresizerv1.Resize]

// WatchResizes yields what was done to the pods of a namespace, or of every
// namespace that the caller may see if it is empty, a bookmark, and from then on
// every change; otherwise as WatchRatios.
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

// Status tells how the reconciler does.
func (c *Client) Status(ctx context.Context) (*workloadresizerv1.GetStatusResponse, error) {
	return c.resizes.GetStatus(ctx, &workloadresizerv1.GetStatusRequest{})
}
