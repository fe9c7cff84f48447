package main

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

func newRatiosCommand(streams genericiooptions.IOStreams, server *connect.Connection, color *print.ColorMode) *cobra.Command {
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
		newRatiosListCommand(streams, server, color),
		newRatiosGetCommand(streams, server, color),
		newRatiosSetCommand(streams, server, color),
		newRatiosDeleteCommand(streams, server, color),
		newRatiosWatchCommand(streams, server, color),
		newRatiosHistoryCommand(streams, server, color),
		newRatiosRollbackCommand(streams, server, color),
	)
	return cmd
}
