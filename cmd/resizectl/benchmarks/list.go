package benchmarks

import (
	"context"
	"fmt"
	"time"

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
		Short: "List what was measured, per node type, CPU model and benchmark",
		Long: `List what was measured, per node type, CPU model and benchmark.

PER VCPU is the median of the scores of all vCPUs together, divided by their
number; more is faster. SPREAD is how far the scores are from it: the scaled median
absolute deviation as a share of the median. AGE is that of the newest of the
samples. Published results count as often as they were run.

With -o wide also the benchmark's version, how many samples were dropped as
OUTLIERS, what one thread alone reaches, and the SMT SHARE: how much of that each
vCPU keeps when all are busy, some 0.5 to 0.6 where two share a core, 1 where none
does. SPOT CHECKS are short ones of one vCPU, which never decide, and their
median.`,
		Example: `  # What was measured?
  resizectl benchmark list

  # Why is one node type faster?
  resizectl benchmark list n4 -o wide

  # Who is the fastest with CoreMark?
  resizectl benchmark list --benchmark coremark`,
		Args:              command.Args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: connect.CompleteNodeTypes(server, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if o.request.NodeType = args[0]; args[0] == "" {
					return command.UsageErrorf(cmd, "the node type is empty; leave it out for all of them")
				}
			}
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.request.Benchmark, "benchmark", "", "only this benchmark, such as coremark")
	command.CompleteFlag(cmd, "benchmark", completeBenchmarks(server))
	command.AddOutputFlag(cmd, &o.Format)
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
		if o.Format.IsDocument() {
			return o.Document(all)
		}
		if len(all.GetBenchmarks()) == 0 {
			_, err := fmt.Fprintln(o.ErrOut, "nothing of the kind was measured, or it is too long ago")
			return err
		}
		table := benchmarksTable(all.GetBenchmarks(), time.Now())
		return o.Table(table)
	})
}
