package holds

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommands are pause, restore, resume and holds.
func NewCommands(streams genericiooptions.IOStreams, server *connect.Connection, color *print.ColorMode) []*cobra.Command {
	return []*cobra.Command{
		newPauseCommand(streams, server),
		newRestoreCommand(streams, server, color),
		newResumeCommand(streams, server),
		newHoldsCommand(streams, server, color),
	}
}
