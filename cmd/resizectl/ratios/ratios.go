package ratios

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommand is ratios, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ratios",
		Short: "Show and change the performance ratios of the node types",
		Long: `Show and change the performance ratios of the node types.

A ratio says how fast one type of node is compared with the others. What a
request is multiplied by on a node type, its factor, is the baseline's
performance divided by the type's own.

Ratios come from sources, such as the server's configuration. What set, delete and
rollback change are the overrides, a source of its own.`,
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
