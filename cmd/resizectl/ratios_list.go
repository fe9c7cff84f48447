package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

type ratiosListOptions struct {
	genericiooptions.IOStreams
	server *connection
	output format
}

func newRatiosListCommand(streams genericiooptions.IOStreams, server *connection) *cobra.Command {
	o := &ratiosListOptions{IOStreams: streams, server: server}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the ratio of every node type, and where it comes from",
		Long: `List the ratio of every node type, and where it comes from.

CPU and MEMORY are the performance of the node type, the FACTORs what requests
are multiplied by there: below 1 on a node that is faster than the baseline.

A source that is not well is warned of on standard error: the table then holds
the last good state of that source.`,
		Example: `  # The ratios that pods are sized by now
  resizectl ratios list

  # Also who wrote them and when, and the bounds of requests
  resizectl ratios list -o wide`,
		Args:              positional(cobra.NoArgs),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.output.addFlag(cmd)
	return cmd
}

func (o *ratiosListOptions) run(ctx context.Context) error {
	return o.server.call(ctx, func(ctx context.Context, c *client.Client) error {
		resp, err := c.ListRatios(ctx)
		if err != nil {
			return err
		}
		if err := o.print(resp); err != nil {
			return err
		}
		return o.warn(resp.GetSources())
	})
}

func (o *ratiosListOptions) print(resp *workloadresizerv1.ListRatiosResponse) error {
	switch o.output {
	case formatJSON, formatYAML:
		return printDocument(o.Out, o.output, resp)
	}
	return printRatios(o.Out, resp, o.output == formatWide)
}

// warn tells of sources whose present state is not in the table.
func (o *ratiosListOptions) warn(sources []*workloadresizerv1.RatioSource) error {
	for _, source := range sources {
		if source.GetHealthy() {
			continue
		}
		kept := "it has had no good state yet"
		if source.GetLastGoodTime() != nil {
			kept = "its state of " + timestamp(source.GetLastGoodTime()) + " is kept"
		}
		if _, err := fmt.Fprintf(o.ErrOut, "warning: source %s is not healthy: %s (%s)\n",
			oneLine(source.GetName()), oneLine(source.GetMessage()), kept); err != nil {
			return err
		}
	}
	return nil
}
