package status

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

type options struct {
	print.Output
	server *connect.Connection
	watch  bool
}

// NewCommand returns status.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &options{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the state of the server: its leader, its queue, its problems",
		Long: `Show the state of the server: which replica answers and which one resizes, what is
queued, what is wrong, and how many pods there are by decision and reason.

The exit code is 0 if the server answers, even if it reports problems.

With --watch, the state follows again whenever it has changed. ` + connect.PollHelp,
		Example: `  # Show whether the server is healthy
  resizectl status

  # Count the skipped pods by reason
  resizectl status -o json | jq '.pods[] | select(.decision == "DECISION_SKIP")'`,
		Args: command.Args(cobra.NoArgs),
		RunE: command.Steps(o.run),
	}
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, "after the state, print it again whenever it has changed")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *options) run(ctx context.Context) error {
	if o.watch {
		return o.server.Repeat(ctx, &o.Output, show)
	}
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error { return show(ctx, c, &o.Output) })
}

// show prints the state of the server on an output.
func show(ctx context.Context, c *client.Client, to *print.Output) error {
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	if to.Format.IsDocument() {
		return to.Document(status)
	}
	return printStatus(to, status)
}
