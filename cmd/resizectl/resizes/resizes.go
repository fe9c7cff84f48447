package resizes

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// NewCommand returns resizes, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resizes",
		Short: "Show the resizes of pods, and their state on the nodes",
		Long: `Show the resizes of pods, and their state on the nodes.

This is the state of the cluster itself: it includes resizes by other replicas of
the server, and resizes from before the server started. "resizectl plan" shows
what is still to be done.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newListCommand(out, server),
		newGetCommand(out, server),
		newWatchCommand(out, server),
	)
	return cmd
}

// resizesHelp describes the tables of all these commands.
const resizesHelp = `There is one row per container that was sized. A pod is sized once workload-resizer
has given it the size for its node, or has found that it already has that size. CPU
and MEMORY are its requests, "original → now". STATE is the state of the resize on
the node:

  actuated     the containers run with these sizes
  pending      the kubelet has not processed the resize yet
  in-progress  the kubelet is actuating the resize
  deferred     the node has no room now; the kubelet tries again
  infeasible   the node can never provide these sizes
  failed       the kubelet could not actuate the resize, or the API server did not accept it

AGE is how long ago the pod was sized, or "partly" while some of its sizes are not
applied yet. TYPE is the node type that the pod is sized for, once all its sizes
are applied.

-o wide also shows what the containers run with (ACTUAL), and the kubelet's
message.`
