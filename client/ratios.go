package client

import (
	"context"
	"errors"
	"iter"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// tableTries is how often a list of the ratio table begins if the table changes between its pages.
const tableTries = 5

// ListRatios returns the ratio table in effect, with the state of its sources. It requests all
// pages, and begins again if the table changes meanwhile, a few times.
func (c *Client) ListRatios(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
	return unchanged(func() (*workloadresizerv1.ListRatiosResponse, error) {
		return whole(pages(ctx, &workloadresizerv1.ListRatiosRequest{}, c.ratios.ListRatios), func(to, page *workloadresizerv1.ListRatiosResponse) {
			to.Ratios = append(to.Ratios, page.GetRatios()...)
		})
	})
}

// ListRatioRules returns the rules for specific pods, in the order in which they are evaluated. A
// rule contains only the settings that it replaces. The pages are requested as in ListRatios.
func (c *Client) ListRatioRules(ctx context.Context) (*workloadresizerv1.ListRatioRulesResponse, error) {
	return unchanged(func() (*workloadresizerv1.ListRatioRulesResponse, error) {
		return whole(pages(ctx, &workloadresizerv1.ListRatioRulesRequest{}, c.ratios.ListRatioRules), func(to, page *workloadresizerv1.ListRatioRulesResponse) {
			to.Rules = append(to.Rules, page.GetRules()...)
		})
	})
}

// ListRatiosAndRules returns the ratio table in effect and its rules. Both have the same revision: it
// requests them again if the table changes in between, a few times.
func (c *Client) ListRatiosAndRules(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, *workloadresizerv1.ListRatioRulesResponse, error) {
	for range tableTries {
		table, err := c.ListRatios(ctx)
		if err != nil {
			return nil, nil, err
		}
		rules, err := c.ListRatioRules(ctx)
		if err != nil {
			return nil, nil, err
		}
		if rules.GetRevision() == table.GetRevision() {
			return table, rules, nil
		}
	}
	return nil, nil, errors.New("the ratio table changes all the time: try again in a moment")
}

// unchanged lists until the table does not change meanwhile.
func unchanged[R any](list func() (R, error)) (all R, err error) {
	for range tableTries {
		if all, err = list(); Reason(err) != "TABLE_CHANGED" {
			break
		}
	}
	return all, err
}

// GetRatio returns the ratio of one node type. It fails as NOT_FOUND (reason
// NODE_TYPE_UNKNOWN) if the node type has none.
func (c *Client) GetRatio(ctx context.Context, nodeType string) (*workloadresizerv1.Ratio, error) {
	resp, err := c.ratios.GetRatio(ctx, &workloadresizerv1.GetRatioRequest{NodeType: nodeType})
	if err != nil {
		return nil, err
	}
	return resp.GetRatio(), nil
}

// RatioEvent is an event of WatchRatios.
type RatioEvent = Event[*workloadresizerv1.Ratio]

// WatchRatios yields the current ratios, a bookmark, and from then on every change, until
// ctx is done or the caller breaks out of the loop. The call starts when the caller ranges
// over the iterator.
//
// If the server or the connection goes away, a watch that has begun resumes where it was,
// however long that takes. If it cannot, it yields a Reset and starts over. An error is
// yielded once, last: if no server answered from the start, or if retrying cannot help.
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
