package benchmarks

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// benchmarkSource is what the source of measured ratios is called.
const benchmarkSource = "benchmark"

// NewCommand is benchmark, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Show what was measured of the node types, and take it over as ratios",
		Long: `Show what was measured of the node types, and take it over as ratios.

Measurements come from feeds, which the server reads by itself, from import, and
from agents on the nodes. What they come to is a suggestion per node type: the
ratio to the baseline, and how sure it is. accept makes it an override, as
"resizectl ratios set" does. Node types that the server's configuration has follow
their benchmarks do so without that.`,
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
