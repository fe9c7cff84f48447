package ratios

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type setOptions struct {
	WriteOptions
	end               OverrideEnd
	cpu, memory, etag string
	create            bool

	updates []*workloadresizerv1.UpdateRatioRequest
	// present are the ratios that were read, by node type.
	present map[string]*workloadresizerv1.Ratio
}

func newSetCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &setOptions{WriteOptions: WriteOptions{Output: out, Server: server}}
	cmd := &cobra.Command{
		Use:   "set NODE_TYPE [--cpu X] [--memory X] | NODE_TYPE=CPU[/MEMORY] ...",
		Short: "Override the ratios of node types",
		Long: `Override the ratios of node types.

An override decides before what other sources say, which is left as it is and
decides again when the override is deleted or has ended (--for, --until). What is
not named stays as it is. Several node types are changed at once, or none is.

First it is shown what would change, and for which pods, on standard error; then
you are asked. If somebody else changes a ratio in between, nothing is changed.

With --dry-run nothing is changed. The exit code is then that of "kubectl diff":

  0  no pod would get another size
  1  at least one pod would
  2  an error`,
		Example: `  # n4 was measured anew
  resizectl ratios set n4 --cpu 1.08 --reason "measured with the new kernel"

  # What would this mean?
  resizectl ratios set n4=1.08 c3=0.98/1.0 --dry-run=server

  # For two hours only, without being asked
  resizectl ratios set n4=1.08 --for 2h --yes

  # Have no end any more
  resizectl ratios set n4 --until never`,
		Args:              command.Args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(cmd, args); err != nil {
				return err
			}
			return o.Run(cmd, o)
		},
	}
	cmd.Flags().StringVar(&o.cpu, "cpu", "", "CPU performance of NODE_TYPE")
	cmd.Flags().StringVar(&o.memory, "memory", "", "memory performance of NODE_TYPE")
	o.end.AddFlags(cmd)
	cmd.Flags().BoolVar(&o.create, "create", false, "allow node types that no source names yet; both performances are needed then")
	cmd.Flags().StringVar(&o.etag, "etag", "", "change NODE_TYPE only if this is its etag, as -o json shows it")
	o.AddFlags(cmd, "ratios set")
	return cmd
}

// complete makes the updates of the arguments.
func (o *setOptions) complete(cmd *cobra.Command, args []string) error {
	one := len(args) == 1 && !strings.Contains(args[0], "=")
	switch {
	case !one && (o.cpu != "" || o.memory != ""):
		return command.UsageErrorf(cmd, "--cpu and --memory are of one NODE_TYPE, which is named without \"=\"")
	case len(args) > 1 && o.etag != "":
		return command.UsageErrorf(cmd, "an etag is of one node type")
	}
	if err := o.end.Validate(cmd); err != nil {
		return err
	}
	for _, arg := range args {
		update, err := o.update(arg, one)
		if err != nil {
			return command.UsageErrorf(cmd, "%w", err)
		}
		if slices.ContainsFunc(o.updates, func(u *workloadresizerv1.UpdateRatioRequest) bool {
			return u.GetRatio().GetNodeType() == update.GetRatio().GetNodeType()
		}) {
			return command.UsageErrorf(cmd, "%s is named twice", update.GetRatio().GetNodeType())
		}
		o.updates = append(o.updates, update)
	}
	return o.completeEnd(cmd)
}

func (o *setOptions) update(arg string, one bool) (*workloadresizerv1.UpdateRatioRequest, error) {
	if one && arg != "" {
		return newUpdate(arg, o.cpu, o.memory)
	}
	return assignment(arg)
}

// completeEnd sets when the overrides end. That may be all that is changed.
func (o *setOptions) completeEnd(cmd *cobra.Command) error {
	end, said, err := o.end.At(cmd)
	switch {
	case err != nil:
		return err
	case !said && len(o.updates[0].GetUpdateMask().GetPaths()) == 0:
		return command.UsageErrorf(cmd, "say what to set: --cpu, --memory, --for or --until")
	case !said:
		return nil
	}
	for _, update := range o.updates {
		Expire(update, end)
	}
	return nil
}

func (o *setOptions) Read(ctx context.Context, c *client.Client) (err error) {
	if o.present, err = ratiosByType(ctx, c); err != nil {
		return err
	}
	for _, update := range o.updates {
		nodeType := update.GetRatio().GetNodeType()
		if o.create && o.present[nodeType] == nil && (update.GetRatio().GetCpuPerf() == 0 || update.GetRatio().GetMemoryPerf() == 0) {
			return fmt.Errorf("%q has no ratio in force\n%s", nodeType, connect.BothPerformances)
		}
		update.AllowMissing = o.create
		if update.Ratio.Etag = o.etag; o.etag == "" {
			update.Ratio.Etag = o.present[update.GetRatio().GetNodeType()].GetEtag()
		}
	}
	return nil
}

func (o *setOptions) Send(ctx context.Context, c *client.Client, validateOnly bool) (Answer, error) {
	return c.Ratios().BatchUpdateRatios(ctx, &workloadresizerv1.BatchUpdateRatiosRequest{
		Requests: o.updates, ValidateOnly: validateOnly, Reason: o.Reason, Author: command.Author(),
	})
}

func (o *setOptions) Table(answer Answer) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: ShiftColumns}
	for _, ratio := range answer.(*workloadresizerv1.BatchUpdateRatiosResponse).GetRatios() {
		table.Rows = append(table.Rows, ShiftRow(ratio.GetNodeType(), o.present[ratio.GetNodeType()], ratio))
	}
	return table
}

// ratiosByType are the ratios in force.
func ratiosByType(ctx context.Context, c *client.Client) (map[string]*workloadresizerv1.Ratio, error) {
	resp, err := c.ListRatios(ctx)
	if err != nil {
		return nil, err
	}
	byType := map[string]*workloadresizerv1.Ratio{}
	for _, ratio := range resp.GetRatios() {
		byType[ratio.GetNodeType()] = ratio
	}
	return byType, nil
}
