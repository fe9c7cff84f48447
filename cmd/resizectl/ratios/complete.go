package ratios

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// completeChanges completes a flag that names a change in the history. The newest change is needed most often.
func completeChanges(server *connect.Connection) cobra.CompletionFunc {
	return connect.InOrder(server.CompleteFlag(func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.Overrides().ListOverrideChanges(ctx, &workloadresizerv1.ListOverrideChangesRequest{PageSize: defaultHistory})
		for _, change := range resp.GetChanges() {
			found = append(found, cobra.CompletionWithDesc(fmt.Sprint(change.GetNumber()),
				fmt.Sprintf("%s by %s: %s", print.Timestamp(change.GetCreateTime()), print.OrAbsent(print.OneLine(change.GetAuthor())), reasonText(change))))
		}
		return found, err
	}))
}
