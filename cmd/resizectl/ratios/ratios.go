package ratios

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommand returns ratios, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratios",
		Short: "Show and change the performance ratios of the node types",
		Long: `Show and change the performance ratios of the node types.

A ratio says how fast a node type is, relative to the others. The factor of a node
type, which requests are multiplied by, is the performance of the baseline divided
by the performance of the node type.

Ratios come from sources, such as the server's configuration. set, delete and
rollback change the overrides, which are a source of their own.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newListCommand(out, server),
		newGetCommand(out, server),
		newSetCommand(out, server),
		newDeleteCommand(out, server),
		newWatchCommand(out, server),
		newHistoryCommand(out, server),
		newRollbackCommand(out, server),
	)
	return cmd
}
