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

type deleteOptions struct {
	WriteOptions
	nodeType, etag string
	ignoreNotFound bool
	// present is the current ratio; nil if there is none.
	present *workloadresizerv1.Ratio
}

func newDeleteCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &deleteOptions{WriteOptions: WriteOptions{Output: out, Server: server}}
	cmd := &cobra.Command{
		Use:   "delete NODE_TYPE",
		Short: "Delete the override of a node type",
		Long: `Delete the override of a node type.

The other sources of the node type then apply again. If the override is for a limited
time, the permanent override that it would fall back to is deleted, too.

The command first shows on standard error what would change, and for which pods.
Then it asks for confirmation. With --dry-run, nothing is changed, and the exit
code is 1 if a pod would get a different size, and 0 if none would.

If node types would then be beyond maxSpeedRatio and not used, such as NODE_TYPE with
its other ratio, the command warns of them. With --yes or --dry-run, it then also
needs --allow-implausible.`,
		Example: `  # Show what would change without the override
  resizectl ratios delete n4 --dry-run=server

  # Return to the ratio in the configuration
  resizectl ratios delete n4 --reason "the configuration has it now"`,
		Args:              command.Args(cobra.ExactArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 1),
		RunE:              o.RunE(o, command.Name(&o.nodeType, "the node type is empty")),
	}
	cmd.Flags().StringVar(&o.etag, "etag", "", "delete the override only if this is the etag of the ratio, as \"ratios get -o json\" shows it")
	cmd.Flags().BoolVar(&o.ignoreNotFound, "ignore-not-found", false, "succeed if there is no override")
	o.AddFlags(cmd, "ratios delete")
	return cmd
}

func (o *deleteOptions) Read(ctx context.Context, c *client.Client) error {
	present, err := ratiosByType(ctx, c)
	o.present = present[o.nodeType]
	return err
}

func (o *deleteOptions) Send(ctx context.Context, c *client.Client, validateOnly bool) (Answer, error) {
	etag := o.etag
	if etag == "" {
		etag = o.present.GetEtag()
	}
	return c.Overrides().DeleteOverride(ctx, &workloadresizerv1.DeleteOverrideRequest{
		NodeType: o.nodeType, RatioEtag: etag, AllowMissing: o.ignoreNotFound,
		ValidateOnly: validateOnly, Reason: o.Reason, AllowImplausible: o.AllowImplausible,
	})
}

func (o *deleteOptions) Table(answer Answer) *metav1.Table {
	left := answer.(*workloadresizerv1.DeleteOverrideResponse).GetRatio()
	return ShiftTable(Shift{o.nodeType, o.present, left})
}

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
		RunE: o.RunE(o, o.validate),
	}
	cmd.Flags().Int64Var(&o.to, "to", 0, "number of the last change to keep")
	command.CompleteFlag(cmd, "to", completeChanges(server))
	o.AddFlags(cmd, "ratios rollback")
	return cmd
}

func (o *rollbackOptions) validate(cmd *cobra.Command, _ []string) error {
	switch {
	case !cmd.Flags().Changed("to"):
		return command.UsageErrorf(cmd, "set --to to the last change to keep; \"resizectl ratios history\" lists the changes")
	case o.to < 0:
		return command.UsageErrorf(cmd, "--to %d is negative; 0 is the state before the first change", o.to)
	}
	return nil
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
