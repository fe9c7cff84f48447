package ratios

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type rollbackOptions struct {
	WriteOptions
	to int64
	// newest is the number of the newest change when the state was read.
	newest int64
}

func newRollbackCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &rollbackOptions{WriteOptions: WriteOptions{Output: out, Server: server}}
	cmd := &cobra.Command{
		Use:   "rollback --to CHANGE",
		Short: "Return the overrides to their state after a change",
		Long: `Return the overrides to their state after a change.

CHANGE is the last change to keep, by its number in "resizectl ratios history"; 0
is the state before the first change. A rollback is a change itself, and you can
roll it back.

The command first shows on standard error what would change, and for which pods.
Then it asks for confirmation. CPU and MEMORY are the values of the overrides; "-"
means no override. With --dry-run, nothing is changed, and the exit code is 1 if a
pod would get a different size, and 0 if none would.

If node types would then be beyond maxSpeedRatio and not used, the command warns of
them. With --yes or --dry-run, it then also needs --allow-implausible.`,
		Example: `  # Show what would change without the changes after number 12
  resizectl ratios rollback --to 12 --dry-run=server

  # Roll back to change 12
  resizectl ratios rollback --to 12 --reason "n4 was measured wrongly"`,
		Args: command.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !cmd.Flags().Changed("to"):
				return command.UsageErrorf(cmd, "set --to to the last change to keep; \"resizectl ratios history\" lists the changes")
			case o.to < 0:
				return command.UsageErrorf(cmd, "--to %d is negative; 0 is the state before the first change", o.to)
			}
			return o.Run(cmd, o)
		},
	}
	cmd.Flags().Int64Var(&o.to, "to", 0, "number of the last change to keep")
	command.CompleteFlag(cmd, "to", completeChanges(server))
	o.AddFlags(cmd, "ratios rollback")
	return cmd
}

func (o *rollbackOptions) Read(ctx context.Context, c *client.Client) error {
	resp, err := c.Overrides().ListOverrideChanges(ctx, &workloadresizerv1.ListOverrideChangesRequest{PageSize: 1})
	if err != nil {
		return err
	}
	o.newest = 0
	if changes := resp.GetChanges(); len(changes) > 0 {
		o.newest = changes[0].GetNumber()
	}
	return nil
}

func (o *rollbackOptions) Send(ctx context.Context, c *client.Client, validateOnly bool) (Answer, error) {
	return c.Overrides().RollbackOverrides(ctx, &workloadresizerv1.RollbackOverridesRequest{
		ToChange: &o.to, ExpectedNewestChange: &o.newest, ValidateOnly: validateOnly, Reason: o.Reason, AllowImplausible: o.AllowImplausible,
	})
}

func (o *rollbackOptions) Table(answer Answer) *metav1.Table {
	return deltaKind.Table(answer.GetChange())
}
