package client

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Restore returns pods to their originals and keeps them there until resumed. It returns
// the stored hold. GetHold returns its progress.
func (c *Client) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return c.holds.Restore(ctx, request)
}

// Pause stops resizing pods until resumed, and returns the stored hold.
func (c *Client) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	return c.holds.Pause(ctx, request)
}

// Resume ends the holds of exactly one scope and, on request, of the scopes inside it. It
// returns the holds that ended, and which others still apply.
func (c *Client) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	return c.holds.Resume(ctx, request)
}

// ListHolds returns the holds in effect in a namespace, which include the holds of the cluster; an
// empty namespace is every namespace that the caller may see. It requests all pages.
func (c *Client) ListHolds(ctx context.Context, namespace string) (*workloadresizerv1.ListHoldsResponse, error) {
	return whole(pages(ctx, &workloadresizerv1.ListHoldsRequest{Namespace: namespace}, c.holds.ListHolds), func(to, page *workloadresizerv1.ListHoldsResponse) {
		to.Holds = append(to.Holds, page.GetHolds()...)
	})
}

// GetHold returns the hold of a scope, and how far it has taken effect. It fails as NOT_FOUND
// (reason HOLD_NOT_FOUND) if the scope has no hold of that kind.
func (c *Client) GetHold(ctx context.Context, scope *workloadresizerv1.HoldScope, kind workloadresizerv1.HoldKind) (*workloadresizerv1.GetHoldResponse, error) {
	return c.holds.GetHold(ctx, &workloadresizerv1.GetHoldRequest{Scope: scope, Kind: kind})
}

// Freeze stops all writes to pods, in the whole cluster, until Unfreeze. It returns the
// stored freeze.
func (c *Client) Freeze(ctx context.Context, request *workloadresizerv1.FreezeRequest) (*workloadresizerv1.FreezeResponse, error) {
	return c.holds.Freeze(ctx, request)
}

// Unfreeze ends the freeze. It returns the freeze that ended.
func (c *Client) Unfreeze(ctx context.Context, request *workloadresizerv1.UnfreezeRequest) (*workloadresizerv1.UnfreezeResponse, error) {
	return c.holds.Unfreeze(ctx, request)
}

// GetFreeze returns the freeze in effect; nil if the cluster is not frozen.
func (c *Client) GetFreeze(ctx context.Context) (*workloadresizerv1.Freeze, error) {
	resp, err := c.holds.GetFreeze(ctx, &workloadresizerv1.GetFreezeRequest{})
	if err != nil {
		return nil, err
	}
	return resp.GetFreeze(), nil
}
