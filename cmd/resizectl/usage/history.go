package usage

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

type historyOptions struct {
	print.Output
	target
	container string
	server    *connect.Connection
}

func newHistoryCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &historyOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "history WORKLOAD",
		Short: "Show what a container used, as a histogram per node type",
		Long: `Show what the containers of a workload with one name used, as a histogram per node
type. WORKLOAD is TYPE/NAME, such as deployment/web, or its name alone if no other
workload has it. --container can be omitted if there is only one name. History is kept for
the workload that pods count for: of a ReplicaSet, that of its Deployment is shown.

Amounts are as measured on the nodes, not converted to the baseline. SHARE is how much of
the history a row has, and UP TO the share of all rows up to this one. A recommendation
takes its percentiles from all node types together. A sample loses half of its weight in
24 hours. Of memory, the highest usage of each pod in each window of 24 hours counts.

Several buckets of the history share a row. -o wide has a row for each, and -o json and
-o yaml print them as in the API.`,
		Example: `  # Show what a Deployment used
  resizectl usage history deployment/web -n shop

  # Print the buckets of one of its containers
  resizectl usage history deployment/web -n shop -c app -o json | jq '.nodeTypes[].cpu[]'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: connect.CompleteWorkloads(server),
		RunE:              command.Steps(o.run, o.complete),
	}
	connect.AddNamespaceFlag(cmd, &o.namespace, "namespace of the workload")
	addContainerFlag(cmd, &o.container, "the name of the containers")
	command.AddOutputFlag(cmd, &o.Format)
	return cmd
}

func (o *historyOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		if err := o.resolve(ctx, c); err != nil {
			return err
		}
		if err := o.chooseContainer(ctx, c); err != nil {
			return err
		}
		resp, err := c.GetUsageHistory(ctx, o.namespace, o.workload, o.container)
		if err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(resp)
		}
		return o.print(resp)
	})
}

// chooseContainer sets the container if the workload has only one.
func (o *historyOptions) chooseContainer(ctx context.Context, c *client.Client) error {
	if o.container != "" {
		return nil
	}
	resp, err := c.GetRecommendation(ctx, o.namespace, o.workload)
	if err != nil {
		return err
	}
	names := containersOf(resp)
	switch len(names) {
	case 0:
		return o.noContainer("", nil)
	case 1:
		o.container = names[0]
		return nil
	}
	return fmt.Errorf("%s in namespace %s has %d containers: set --container to one of %s", print.WorkloadName(o.workload), o.namespace, len(names), print.OneLine(strings.Join(names, ", ")))
}
