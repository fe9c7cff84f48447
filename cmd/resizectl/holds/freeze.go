package holds

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

const notFrozen = "the cluster is not frozen"

// freezeChange has the parts that freeze and unfreeze share.
type freezeChange struct {
	print.Output
	command.Confirmation
	server *connect.Connection
	dryRun command.DryRun
	reason string
	// freezes means that the command freezes the cluster; otherwise, it ends the freeze. question asks for that.
	freezes  bool
	question string
	// without returns the command that does the same without the server in a namespace.
	without func(namespace string) string
}

// addFlags adds the flags; shows is what a dry run shows, and shown is where the reason goes.
func (o *freezeChange) addFlags(cmd *cobra.Command, shows, shown string) {
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, "+shown)
	o.AddYesFlag(cmd, cmd.Name())
	o.dryRun.AddFlag(cmd, shows)
	command.AddOutputFlag(cmd, &o.Format)
}

// call is like the method of Connection. If the server does not answer, the error also says how
// to do without it.
func (o *freezeChange) call(ctx context.Context, call func(context.Context, *client.Client) error) error {
	silent := true // Until the server is called.
	err := o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		err := call(ctx, c)
		silent = client.IsUnreachable(err) || status.Code(err) == codes.DeadlineExceeded && client.Reason(err) == ""
		return err
	})
	if err == nil || !silent || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w; kubectl does the same without the server: %s", err, o.Commands(o.without(o.server.Namespace())))
}

// current returns the freeze, nil if there is none. It reports false if the server answers that it
// does not know, or may not say: then the change itself decides.
func (o *freezeChange) current(ctx context.Context) (freeze *workloadresizerv1.Freeze, known bool, err error) {
	err = o.call(ctx, func(ctx context.Context, c *client.Client) error {
		found, err := c.GetFreeze(ctx)
		freeze, known = found, err == nil
		switch client.Reason(err) {
		case "FREEZE_NOT_READY", "NOT_AUTHORIZED":
			return print.Texts(o.ErrOut, "warning: it is not known whether the cluster is frozen: "+connect.MessageOf(err))
		}
		return err
	})
	return freeze, known, err
}

// confirm asks, after it has shown the current state.
func (o *freezeChange) confirm(cmd *cobra.Command, state string) error {
	if o.dryRun.On() {
		return nil
	}
	if err := o.MustBePossible(cmd, o.IOStreams); err != nil {
		return err
	}
	if !o.Given() {
		if err := print.Texts(o.ErrOut, state); err != nil {
			return err
		}
	}
	return o.Ask(cmd, o.IOStreams, o.question)
}

func newFreezeCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &freezeChange{
		Output: out, server: server, without: connect.FreezeCommand,
		freezes: true, question: "Stop all writes to the pods in the cluster, restores included?",
	}
	cmd := &cobra.Command{
		Use:   "freeze",
		Short: "Stop all writes to pods in the whole cluster immediately",
		Long: `Immediately stop all writes to pods in the whole cluster, until "resizectl unfreeze".

A freeze outranks every hold: restores and reverts stop, too. Pods keep their
current size. No write begins more than a second later, with one exception: if a
pod was just resized, its record is still written. A freeze does not need room
among the holds. If the cluster is already frozen, the command shows who froze it,
when and why, and changes nothing.

If the server does not answer, freeze the cluster with kubectl, which works even
while no server runs:

  ` + connect.FreezeCommand(connect.DefaultNamespace),
		Example: `  # Stop everything
  resizectl freeze --reason "latency has doubled"

  # Stop everything from a script
  resizectl freeze --yes`,
		Args: command.Args(cobra.NoArgs),
		RunE: o.run,
	}
	o.addFlags(cmd, "the freeze that would be set", "shown wherever it matters why pods are not resized")
	return cmd
}

func newUnfreezeCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &freezeChange{
		Output: out, server: server, without: connect.UnfreezeCommand,
		question: "End the freeze, and write to the pods in the cluster again?",
	}
	cmd := &cobra.Command{
		Use:   "unfreeze",
		Short: "End the freeze of the cluster",
		Long: `End the freeze of the cluster. Restores continue, and pods are resized again, except
for those that are paused. Before it asks for confirmation, the command shows who
froze the cluster, when and why.

If the server does not answer, end the freeze with kubectl:

  ` + connect.UnfreezeCommand(connect.DefaultNamespace),
		Example: `  # Show the freeze that would end
  resizectl unfreeze --dry-run

  # End the freeze
  resizectl unfreeze --reason "the cause was something else"`,
		Args: command.Args(cobra.NoArgs),
		RunE: o.run,
	}
	o.addFlags(cmd, "the freeze that would end", "written to the server's log")
	return cmd
}

// run shows the current state, asks for confirmation, and changes it, unless it is as it should be.
func (o *freezeChange) run(cmd *cobra.Command, _ []string) error {
	now, known, err := o.current(cmd.Context())
	if err != nil {
		return err
	}
	state := ""
	switch {
	case known && now != nil && o.freezes:
		return o.printFreeze(now, print.Freeze(now))
	case known && now == nil && !o.freezes:
		return o.printReleased(&workloadresizerv1.UnfreezeResponse{})
	case now != nil:
		state = print.Freeze(now)
	case known:
		state = notFrozen
	}
	if err := o.confirm(cmd, state); err != nil {
		return err
	}
	return o.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
		if !o.freezes {
			response, err := c.Unfreeze(ctx, &workloadresizerv1.UnfreezeRequest{Reason: o.reason, ValidateOnly: o.dryRun.On()})
			if err != nil {
				return err
			}
			return o.printReleased(response)
		}
		response, err := c.Freeze(ctx, &workloadresizerv1.FreezeRequest{Reason: o.reason, ValidateOnly: o.dryRun.On()})
		if err != nil {
			return err
		}
		text := print.Freeze(response.GetFreeze())
		if o.dryRun.On() {
			text = "the cluster would be frozen"
		}
		return o.printFreeze(response.GetFreeze(), text)
	})
}

// printFreeze prints a freeze as a document, or the text.
func (o *freezeChange) printFreeze(freeze *workloadresizerv1.Freeze, text string) error {
	if o.Format.IsDocument() {
		return o.Document(freeze)
	}
	return print.Texts(o.Out, text)
}

func (o *freezeChange) printReleased(response *workloadresizerv1.UnfreezeResponse) error {
	if o.Format.IsDocument() {
		return o.Document(response)
	}
	if response.GetReleased() == nil {
		return print.Texts(o.ErrOut, notFrozen)
	}
	did := "has ended"
	if o.dryRun.On() {
		did = "would end"
	}
	return print.Texts(o.Out, fmt.Sprintf("the freeze since %s %s", print.Timestamp(response.GetReleased().GetCreateTime()), did))
}
