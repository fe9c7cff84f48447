package benchmarks

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

type listOptions struct {
	print.Output
	server  *connect.Connection
	request workloadresizerv1.ListBenchmarksRequest
}

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	o := &listOptions{Output: out, server: server}
	cmd := &cobra.Command{
		Use:   "list [NODE_TYPE]",
		Short: "List the measurements by node type, CPU model and benchmark",
		Long: `List the measurements by node type, CPU model and benchmark.

PER VCPU is the median of the scores of all vCPUs together, divided by their
number; more is faster. SPREAD is how far the scores are from it: the scaled
median absolute deviation as a share of the median. AGE is the age of the newest
sample. Published results count as often as they were run.

-o wide also shows the version of the benchmark, how many samples were dropped as
OUTLIERS, and the score of a single thread. SMT SHARE is how much of that score
each vCPU keeps when all are busy: about 0.5 to 0.6 if two share a core, and 1 if
none do. SPOT CHECKS are short measurements of one vCPU, with their median. They
never affect a ratio.`,
		Example: `  # List all measurements
  resizectl benchmark list

  # Show the details of one node type
  resizectl benchmark list n4 -o wide

  # Compare the node types by CoreMark
  resizectl benchmark list --benchmark coremark`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.request.NodeType = args[0]; args[0] == "" {
					return command.UsageErrorf(cmd, "the node type is empty; omit it for all of them")
				}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.request.Benchmark, "benchmark", "", "only this benchmark, such as coremark")
	command.CompleteFlag(cmd, "benchmark", completeBenchmarks(server))
	command.AddRowFlags(cmd, &o.Output)
	return cmd
}

func (o *listOptions) run(ctx context.Context) error {
	return o.server.Call(ctx, func(ctx context.Context, c *client.Client) error {
		all := &workloadresizerv1.ListBenchmarksResponse{}
		for benchmark, err := range c.ListBenchmarks(ctx, &o.request) {
			if err != nil {
				return err
			}
			all.Benchmarks = append(all.Benchmarks, benchmark)
		}
		if err := print.Sort(o.SortBy, all.GetBenchmarks()); err != nil {
			return err
		}
		if o.Format.IsDocument() {
			return o.Document(all)
		}
		if len(all.GetBenchmarks()) == 0 {
			_, err := fmt.Fprintln(o.ErrOut, "no such measurements found, or they are too old")
			return err
		}
		if o.Format.IsListing() {
			return print.Listing(&o.Output, nil, all.GetBenchmarks()...)
		}
		return o.Table(benchmarksTable(&o.Output, all.GetBenchmarks()))
	})
}
