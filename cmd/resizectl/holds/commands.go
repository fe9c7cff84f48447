package holds

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommands returns pause, restore, resume, freeze, unfreeze and holds.
func NewCommands(out print.Output, server *connect.Connection) []*cobra.Command {
	return []*cobra.Command{
		newPauseCommand(out, server),
		newRestoreCommand(out, server),
		newResumeCommand(out, server),
		newFreezeCommand(out, server),
		newUnfreezeCommand(out, server),
		newHoldsCommand(out, server),
	}
}
