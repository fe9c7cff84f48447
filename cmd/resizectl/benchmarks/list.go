package benchmarks

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newListCommand(out print.Output, server *connect.Connection) *cobra.Command {
	request := &workloadresizerv1.ListBenchmarksRequest{}
	return objects.List[*workloadresizerv1.Benchmark, *workloadresizerv1.Benchmark]{
		Verb: objects.Verb{
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
			Args:     command.Args(cobra.MaximumNArgs(1)),
			Complete: connect.CompleteNodeTypes(server, 1),
			Flags: func(cmd *cobra.Command) {
				cmd.Flags().StringVar(&request.Benchmark, "benchmark", "", "only this benchmark, such as coremark")
				command.CompleteFlag(cmd, "benchmark", completeBenchmarks(server))
			},
			Steps: []command.Step{
				command.Name(&request.NodeType, "the node type is empty; omit it for all of them"),
				func(cmd *cobra.Command, _ []string) error {
					return command.CheckFlag(cmd, "benchmark", "for all of them")
				},
			},
		},
		Kind: benchmarkKind,
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.Benchmark], error) {
			all := &workloadresizerv1.ListBenchmarksResponse{}
			for benchmark, err := range c.ListBenchmarks(ctx, request) {
				if err != nil {
					return nil, err
				}
				all.Benchmarks = append(all.Benchmarks, benchmark)
			}
			return &objects.Answer[*workloadresizerv1.Benchmark]{
				Objects: all.GetBenchmarks(), Document: []proto.Message{all}, Empty: "no such measurements found, or they are too old",
			}, nil
		},
	}.Command(out, server)
}

// benchmarkKind describes measurements, which have no names.
func benchmarkKind(o *print.Output) objects.Kind[*workloadresizerv1.Benchmark, *workloadresizerv1.Benchmark] {
	type benchmark = *workloadresizerv1.Benchmark
	return objects.Kind[benchmark, benchmark]{
		Rows: objects.Itself[benchmark],
		Columns: []objects.Column[benchmark]{
			objects.Text("Node Type", benchmark.GetNodeType),
			objects.Text("CPU Model", benchmark.GetCpuModel),
			objects.Text("Benchmark", benchmark.GetBenchmark),
			objects.Count("Samples", benchmark.GetSamples),
			objects.Count("Machines", benchmark.GetMachines),
			objects.Cell("Per vCPU", func(b benchmark) any { return score(b.GetMedian()) }),
			objects.Cell("Spread", func(b benchmark) any { return percent(b.GetSpread()) }),
			objects.Cell("Age", func(b benchmark) any { return o.Age(b.GetNewestTime()) }),
			objects.Text("Version", benchmark.GetVersion).Wide(),
			objects.Text("Unit", benchmark.GetUnit).Wide(),
			objects.Count("Outliers", benchmark.GetOutliers).Wide(),
			objects.Cell("Single Thread", func(b benchmark) any { return score(b.GetSingleThreadMedian()) }).Wide(),
			objects.Cell("SMT Share", func(b benchmark) any { return smtShare(b) }).Wide(),
			objects.Cell("Spot Checks", func(b benchmark) any { return spotChecks(b) }).Wide(),
		},
	}
}

// smtShare returns the share of its score alone that a vCPU keeps when all are busy.
func smtShare(b *workloadresizerv1.Benchmark) string {
	if b.SingleThreadMedian == nil || b.GetMedian() == 0 {
		return print.Absent
	}
	return fmt.Sprintf("%.2f", b.GetMedian()/b.GetSingleThreadMedian())
}

func spotChecks(b *workloadresizerv1.Benchmark) string {
	if b.GetSpotChecks() == 0 {
		return print.Absent
	}
	return fmt.Sprintf("%d at %s", b.GetSpotChecks(), score(b.GetSpotMedian()))
}

// score returns a score with one digit after the point, if it is large enough for that to be
// precise. 0 is an unknown score.
func score(f float64) string {
	if f < 1000 {
		return print.Factor(f)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// percent returns a share, e.g. "1.2%".
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// changedBy returns the relative change in a performance. A faster node type frees, a slower
// one adds, because less or more is requested there.
func changedBy(old, new float64) print.Cell {
	if old == 0 || new == 0 {
		return print.Cell{Text: print.Absent}
	}
	text := fmt.Sprintf("%+.1f%%", 100*(new/old-1))
	switch {
	case new > old:
		return print.Cell{Text: text, Style: print.Freed}
	case new < old:
		return print.Cell{Text: text, Style: print.Added}
	}
	return print.Cell{Text: "0.0%"}
}
