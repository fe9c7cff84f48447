package resizes

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommand is resizes, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resizes",
		Short: "Show what was done to pods, and how far the nodes are with it",
		Long: `Show what was done to pods, and how far the nodes are with it.

This is what the cluster itself has: also what was done by another replica of the
server, or before it was started. What is still to be done is what "resizectl plan"
shows.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newListCommand(out, server),
		newGetCommand(out, server),
		newWatchCommand(out, server),
	)
	return cmd
}

// resizesHelp is what the tables of all these commands show.
const resizesHelp = `There is a row per container that was sized. CPU and MEMORY are its requests,
"original → now". STATE is how far the node is with the pod:

  actuated     the containers run with that
  pending      the kubelet has not looked at it yet
  in-progress  the kubelet is at it
  deferred     the node has no room now; the kubelet tries again
  infeasible   the node can never give it
  failed       the kubelet failed at it

SIZED is when, or "partly": some of its sizes are still to be given, and TYPE is that of
the pod once all are.

-o wide shows what the containers run with (ACTUAL), and what the kubelet says.`
