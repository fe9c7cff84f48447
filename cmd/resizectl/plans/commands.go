package plans

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommands returns plan and explain.
func NewCommands(out print.Output, server *connect.Connection) []*cobra.Command {
	return []*cobra.Command{
		newPlanCommand(out, server),
		newExplainCommand(out, server),
	}
}
