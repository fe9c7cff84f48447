package client

import (
	"context"
	"iter"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ListRatios returns the table that pods are sized by now, with the state of
// the sources it was made from.
func (c *Client) ListRatios(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
	return c.ratios.ListRatios(ctx, &workloadresizerv1.ListRatiosRequest{})
}

// GetRatio returns the ratio of one node type. NOT_FOUND (reason
// NODE_TYPE_UNKNOWN) if it has none.
func (c *Client) GetRatio(ctx context.Context, nodeType string) (*workloadresizerv1.Ratio, error) {
	resp, err := c.ratios.GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
	if err != nil {
		return nil, err
	}
	return resp.GetRatio(), nil
}

// RatioEvent is an event of WatchRatios.
type RatioEvent = Event[*workloadresizerv1.Ratio]

// WatchRatios yields the present ratios, a bookmark, and from then on every
// change, until ctx is done or the caller breaks out of the loop. The call is made
// when the iterator is ranged over.
//
// A watch that has begun goes on where it was when the server or the connection
// goes away, however long that takes; where it cannot, it yields a Reset and begins
// anew. An error is yielded once, last: that nobody answered from the start, or
// what trying again does not mend.
func (c *Client) WatchRatios(ctx context.Context, opts ...WatchOption) iter.Seq2[RatioEvent, error] {
	open := func(ctx context.Context, token string) (func() (*workloadresizerv1.WatchRatiosResponse, error), error) {
		stream, err := c.ratios.WatchRatios(ctx, &workloadresizerv1.WatchRatiosRequest{ResumeToken: token})
		if err != nil {
			return nil, err
		}
		return stream.Recv, nil
	}
	return watch(ctx, opts, open, (*workloadresizerv1.WatchRatiosResponse).GetRatio)
}
