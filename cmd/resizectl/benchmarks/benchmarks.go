package benchmarks

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// benchmarkSource is the name of the source of measured ratios.
const benchmarkSource = "benchmark"

// NewCommand returns benchmark, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Show measurements of the node types, and accept them as ratios",
		Long: `Show measurements of the node types, and accept them as ratios.

Measurements come from feeds, which the server reads by itself, from import, and
from agents on the nodes. They result in a suggestion per node type: its ratio to
the baseline, and the confidence in it. accept makes a suggestion an override, as
"resizectl ratios set" does. Node types that follow benchmarks by the server's
configuration do not need accept.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newImportCommand(out, server),
		newListCommand(out, server),
		newFeedsCommand(out, server),
		newSuggestCommand(out, server),
		newAcceptCommand(out, server),
	)
	return cmd
}
