package client

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Restore has pods given their originals back and kept so, and returns the hold
// that is stored for that. PreviewPlans with AsRestored shows how far it is.
func (c *Client) Restore(ctx context.Context, request *workloadresizerv1.RestoreRequest) (*workloadresizerv1.RestoreResponse, error) {
	return c.resizes.Restore(ctx, request)
}

// Pause has pods left as they are, and returns the hold that is stored for that.
func (c *Client) Pause(ctx context.Context, request *workloadresizerv1.PauseRequest) (*workloadresizerv1.PauseResponse, error) {
	return c.pauses.Pause(ctx, request)
}

// Resume ends the holds of exactly a scope, and on request of what is inside it,
// and returns them, and what goes on.
func (c *Client) Resume(ctx context.Context, request *workloadresizerv1.ResumeRequest) (*workloadresizerv1.ResumeResponse, error) {
	return c.pauses.Resume(ctx, request)
}

// ListHolds returns what is restored or paused now.
func (c *Client) ListHolds(ctx context.Context) (*workloadresizerv1.ListHoldsResponse, error) {
	return c.pauses.ListHolds(ctx, &workloadresizerv1.ListHoldsRequest{})
}
