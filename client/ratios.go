package client

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// ListRatios returns the table that pods are sized by now, with the state of
// the sources it was made from.
func (c *Client) ListRatios(ctx context.Context) (*workloadresizerv1.ListRatiosResponse, error) {
	return c.ratios.ListRatios(ctx, &workloadresizerv1.ListRatiosRequest{})
}
