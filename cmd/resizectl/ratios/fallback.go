package ratios

import (
	"context"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// overrideFallbacks are the permanent overrides that take effect when temporary ones expire, by
// node type.
type overrideFallbacks map[string]*workloadresizerv1.OverrideValue

// findFallbacks returns the fallbacks of these ratios, as far as they expire. It only warns if the
// user may not read overrides.
func findFallbacks(ctx context.Context, c *client.Client, errOut io.Writer, of ...*workloadresizerv1.Ratio) (overrideFallbacks, error) {
	expires := false
	for _, ratio := range of {
		expires = expires || ratio.GetExpireTime() != nil
	}
	if !expires {
		return nil, nil
	}
	fallbacks := overrideFallbacks{}
	for override, err := range c.ListOverrides(ctx) {
		if client.Reason(err) == "NOT_AUTHORIZED" {
			_, err := fmt.Fprintf(errOut, "warning: it is not known which overrides follow those that expire: %s\n", print.OneLine(connect.MessageOf(err)))
			return nil, err
		}
		if err != nil {
			return nil, err
		}
		if override.GetFallback() != nil {
			fallbacks[override.GetNodeType()] = override.GetFallback()
		}
	}
	return fallbacks, nil
}
