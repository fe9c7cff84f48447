package holds

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// freezeChange has the parts that freeze and unfreeze share.
type freezeChange struct {
	print.Output
	command.Confirmation
	server *connect.Connection
	dryRun command.DryRun
	reason string
}

// addFlags adds the flags; shows is what a dry run shows, and shown is where the reason goes.
func (o *freezeChange) addFlags(cmd *cobra.Command, shows, shown string) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, "+shown)
	o.AddYesFlag(cmd, cmd.Name())
	o.dryRun.AddFlag(cmd, shows)
	command.AddOutputFlag(cmd, &o.Format)
}

func (o *freezeChange) confirm(question string) command.Step {
	return func(cmd *cobra.Command, _ []string) error {
		if o.dryRun.On() {
			return nil
		}
		return o.Ask(cmd, o.IOStreams, question)
	}
}

func newFreezeCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &freezeChange{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "freeze",
		Short: "Stop all writes to pods in the whole cluster immediately",
		Long: `Immediately stop all writes to pods in the whole cluster, until "resizectl unfreeze".

A freeze outranks every hold: restores stop, too. Pods keep their current size. No
write begins more than a second later, with one exception: if a pod was just
resized, its record is still written. A freeze does not need room among the holds.

If the server does not answer, freeze the cluster with kubectl, which works even
while no server runs:

  kubectl -n workload-resizer-system create configmap workload-resizer-freeze --from-literal=frozen=true`,
		Example: `  # Stop everything
  resizectl freeze --reason "latency has doubled"

  # Stop everything from a script
  resizectl freeze --yes`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.freeze, o.confirm("Stop all writes to the pods in the cluster, restores included?")),
	}
	o.addFlags(cmd, "the freeze that would be set", "shown wherever it matters why pods are not resized")
	return cmd
}

func newUnfreezeCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &freezeChange{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "unfreeze",
		Short: "End the freeze of the cluster",
		Long: `End the freeze of the cluster. Restores continue, and pods are resized again, except
for those that are paused.

If the server does not answer, end the freeze with kubectl:

  kubectl -n workload-resizer-system delete configmap workload-resizer-freeze`,
		Example: `  # Show the freeze that would end
  resizectl unfreeze --dry-run

  # End the freeze
  resizectl unfreeze --reason "the cause was something else"`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.unfreeze, o.confirm("End the freeze, and write to the pods in the cluster again?")),
	}
	o.addFlags(cmd, "the freeze that would end", "written to the server's log")
	return cmd
}

func (o *freezeChange) freeze(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Freeze(ctx, &workloadresizerv1.FreezeRequest{Reason: o.reason, Author: command.Author(), ValidateOnly: o.dryRun.On()})
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(response.GetFreeze())
		}
		text := print.Freeze(response.GetFreeze())
		if o.dryRun.On() {
			text = "the cluster would be frozen"
		}
		_, err = fmt.Fprintln(o.Out, text)
		return err
	})
}

func (o *freezeChange) unfreeze(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		response, err := c.Unfreeze(ctx, &workloadresizerv1.UnfreezeRequest{Reason: o.reason, Author: command.Author(), ValidateOnly: o.dryRun.On()})
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(response)
		}
		if response.GetReleased() == nil {
			_, err = fmt.Fprintln(o.ErrOut, "the cluster is not frozen")
			return err
		}
		did := "has ended"
		if o.dryRun.On() {
			did = "would end"
		}
		_, err = fmt.Fprintf(o.Out, "the freeze since %s %s\n", print.Timestamp(response.GetReleased().GetCreateTime()), did)
		return err
	})
}
