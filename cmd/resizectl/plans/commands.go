package plans

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommands are plan and explain.
func NewCommands(streams genericiooptions.IOStreams, server *connect.Connection, color *print.ColorMode) []*cobra.Command {
	return []*cobra.Command{
		newPlanCommand(streams, server, color),
		newExplainCommand(streams, server, color),
	}
}
