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
	return items(pages(ctx, request, c.resizes.ListResizes), (*workloadresizerv1.ListResizesResponse).GetResizes)
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

// WatchResizes yields the resizes of the pods that the request selects, a bookmark, and from then
// on every change. An empty request selects every pod that the caller may see. A resume_token in
// the request is the same as ResumeFrom. Otherwise it works like WatchRatios.
func (c *Client) WatchResizes(ctx context.Context, request *workloadresizerv1.WatchResizesRequest, opts ...WatchOption) iter.Seq2[ResizeEvent, error] {
	open := func(ctx context.Context, token string) (func() (*workloadresizerv1.WatchResizesResponse, error), error) {
		from := proto.CloneOf(request)
		from.ResumeToken = token
		stream, err := c.resizes.WatchResizes(ctx, from)
		if err != nil {
			return nil, err
		}
		return stream.Recv, nil
	}
	opts = append([]WatchOption{ResumeFrom(request.GetResumeToken())}, opts...)
	return watch(ctx, opts, open, (*workloadresizerv1.WatchResizesResponse).GetResize)
}

// ListEntries yields the entries of the journal that the request selects, the newest first. It
// requests page after page as needed, of the request's page_size. An error is yielded once, last.
func (c *Client) ListEntries(ctx context.Context, request *workloadresizerv1.ListEntriesRequest) iter.Seq2[*workloadresizerv1.JournalEntry, error] {
	return items(pages(ctx, request, c.journal.ListEntries), (*workloadresizerv1.ListEntriesResponse).GetEntries)
}

// EntryEvent is an event of WatchEntries.
type EntryEvent = Event[*workloadresizerv1.JournalEntry]

// WatchEntries yields the entries of the journal that the request selects, a bookmark, and from then
// on every change. An empty request selects every entry that the caller may see. A resume_token in
// the request is the same as ResumeFrom. Otherwise it works like WatchRatios.
func (c *Client) WatchEntries(ctx context.Context, request *workloadresizerv1.WatchEntriesRequest, opts ...WatchOption) iter.Seq2[EntryEvent, error] {
	open := func(ctx context.Context, token string) (func() (*workloadresizerv1.WatchEntriesResponse, error), error) {
		from := proto.CloneOf(request)
		from.ResumeToken = token
		stream, err := c.journal.WatchEntries(ctx, from)
		if err != nil {
			return nil, err
		}
		return stream.Recv, nil
	}
	opts = append([]WatchOption{ResumeFrom(request.GetResumeToken())}, opts...)
	return watch(ctx, opts, open, (*workloadresizerv1.WatchEntriesResponse).GetEntry)
}

// Status returns the state of the server and of its reconciler.
func (c *Client) Status(ctx context.Context) (*workloadresizerv1.GetStatusResponse, error) {
	return c.status.GetStatus(ctx, &workloadresizerv1.GetStatusRequest{})
}
