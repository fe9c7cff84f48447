package client

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Restore returns pods to their originals and keeps them there until resumed. It returns
// the stored hold. PreviewPlans with AsRestored shows the progress.
func (c *Client) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return c.resizes.Restore(ctx, request)
}

// Pause stops resizing pods until resumed, and returns the stored hold.
func (c *Client) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	return c.pauses.Pause(ctx, request)
}

// Resume ends the holds of exactly one scope and, on request, of the scopes inside it. It
// returns the holds that ended, and which others still apply.
func (c *Client) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	return c.pauses.Resume(ctx, request)
}

// Freeze stops all writes to pods, in the whole cluster, until Unfreeze. It returns the
// stored freeze.
func (c *Client) Freeze(ctx context.Context, request *workloadresizerv1.FreezeRequest) (*workloadresizerv1.FreezeResponse, error) {
	return c.pauses.Freeze(ctx, request)
}

// Unfreeze ends the freeze. It returns the freeze that ended.
func (c *Client) Unfreeze(ctx context.Context, request *workloadresizerv1.UnfreezeRequest) (*workloadresizerv1.UnfreezeResponse, error) {
	return c.pauses.Unfreeze(ctx, request)
}

// ListHolds returns the holds that are in effect now.
func (c *Client) ListHolds(ctx context.Context) (*workloadresizerv1.ListHoldsResponse, error) {
	return c.pauses.ListHolds(ctx, &workloadresizerv1.ListHoldsRequest{})
}
