package usage

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

type savingsOptions struct {
	print.Output
	selection
	server *connect.Connection
	by     by
}

func newSavingsCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &savingsOptions{Output: out, server: server, by: byWorkload}
	cmd := &cobra.Command{
		Use:   "savings [WORKLOAD]",
		Short: "Show what resizes save now, and what they cost",
		Long: `Show what resizes save now, and what they cost. To see what recommendations
would save, use resizectl usage.

CPU and MEMORY are sums over running pods, "authored → requested": what they would request
as their authors wrote them, and what they request now. SAVED is the difference; it is
negative if pods request more than their authors wrote. USED is what the containers use on
the nodes where they run: the mean of CPU, and of the highest memory of each day. The columns
for a MONTH (730 hours) are there if the server has prices.

A pod requests what the scheduler counts. If an init container needs more than all other
containers together, that is what the pod requests, and smaller containers save nothing. A
request that shrinks counts in full until the node has completed the resize. Pods that are
being deleted count until they are gone.

UNKNOWN counts the pods whose usage is not known: that of a container, or the performance of
their node. USED has nothing of them. A "-" means that the usage of all pods is unknown.

REVERTS counts the reverts that existing pods record, of each resource of each container.
OOM KILLS counts kills for lack of memory that a resize may have caused: existing pods show
that a container was killed that had less memory than its author wrote.

There is one row per workload, and the totals follow; "*" stands for every namespace or
workload, and "-" for pods that count for no workload, such as a pod without a controller.
WORKLOAD selects one, as in resizectl usage.

-o wide also shows what the pods of known usage request (MEASURED), to compare it with what
they use. Tables round. -o json and -o yaml are exact: "savings" has the workloads as in the
API, and "namespaces" and "total" have the sums over them. Costs are per hour there.
--sort-by and custom columns select fields of what --by selects.`,
		Example: `  # Show what the workloads in a namespace save
  resizectl usage savings -n shop

  # Show the namespaces in the cluster, those that save most CPU last
  resizectl usage savings -A --by namespace --sort-by .saved.cpu

  # Show what one workload saves
  resizectl usage savings deployment/web -n shop

  # Print how much memory resizes save in the cluster
  resizectl usage savings -A -o json | jq -r .total.saved.memory`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteWorkloads(server),
		RunE:              command.Steps(o.run, o.complete),
	}
	o.addFlags(cmd)
	cmd.Flags().Var(command.OneOf(&o.by, "what", savingGroups), "by", "what a row is about: namespace or workload")
	command.CompleteFlag(cmd, "by", cobra.FixedCompletions(savingGroups, cobra.ShellCompDirectiveNoFileComp))
	command.AddListFlags(cmd, &o.Output)
	return cmd
}

// savingGroups are the values of --by.
var savingGroups = groupings[:2]

func (o *savingsOptions) run(ctx context.Context) error {
	return o.list(ctx, o.server, &o.Output, o.by, func(ctx context.Context, c *client.Client) (*report, error) {
		selected := o.request()
		resp, err := c.ListSavings(ctx, &workloadresizerv1.ListSavingsRequest{Namespace: selected.GetNamespace(), LabelSelector: selected.GetLabelSelector(), Workload: selected.GetWorkload()})
		if err != nil {
			return nil, err
		}
		return savingsOf(resp)
	})
}

// unknownUsage says of how many pods the usage is unknown, and where to find why; empty if there are none. Pods that
// count for no workload cannot be explained.
func (r *report) unknownUsage() string {
	unknown := r.total.sums.unknownPods
	if unknown == 0 {
		return ""
	}
	var without int64
	for _, of := range r.rows[byWorkload] {
		if of.workload == nil {
			without += of.sums.unknownPods
		}
	}
	why := "\"resizectl usage explain WORKLOAD\" shows why"
	none := fmt.Sprintf("none is collected of %s without a workload (-)", print.CountOf(without, "pod"))
	switch without {
	case 0:
	case unknown:
		why = none
	default:
		why += "; " + none
	}
	return fmt.Sprintf("the usage of %d of %s is unknown; %s", unknown, print.CountOf(r.total.sums.pods, "pod"), why)
}
