package benchmarks

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// benchmarkSource is the name of the source of measured ratios.
const benchmarkSource = "benchmark"

// NewCommand returns benchmark, with its commands.
func NewCommand(out print.Output, server *connect.Connection) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "benchmark",
		Short: "Show measurements of the node types, and accept them as ratios",
		Long: `Show measurements of the node types, and accept them as ratios.

Measurements come from feeds, which the server reads by itself, from import, and
from agents on the nodes. They result in a suggestion per node type: its ratio to
the baseline, and the confidence in it ("resizectl ratios suggest"). accept makes a
suggestion an override, as "resizectl ratios set" does. Node types that follow
benchmarks by the server's configuration do not need accept.`,
	}
	command.Group(cmd)
	cmd.AddCommand(
		newImportCommand(out, server),
		newListCommand(out, server),
		newFeedsCommand(out, server),
		newAcceptCommand(out, server),
	)
	return cmd
}

// completeSuggestions completes the node types that have suggestions.
func completeSuggestions(server *connect.Connection) cobra.CompletionFunc {
	return server.CompleteFirst(func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		resp, err := c.ListSuggestions(ctx)
		for _, s := range resp.GetSuggestions() {
			found = append(found, cobra.CompletionWithDesc(print.OneLine(s.GetNodeType()), ratios.Shifted(currentPerf(s), print.Factor(s.GetCpuPerf()))))
		}
		return found, err
	})
}

func completeFeeds(server *connect.Connection) cobra.CompletionFunc {
	return server.CompleteFirst(func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		for feed, err := range c.ListFeeds(ctx) {
			if err != nil {
				return nil, err
			}
			found = append(found, cobra.CompletionWithDesc(print.OneLine(feed.GetName()), print.OneLine(feed.GetLocation())))
		}
		return found, nil
	})
}

// completeBenchmarks completes a flag that names a benchmark.
func completeBenchmarks(server *connect.Connection) cobra.CompletionFunc {
	return server.CompleteFlag(func(ctx context.Context, c *client.Client) (found []cobra.Completion, err error) {
		machines := map[string]int64{}
		for b, err := range c.ListBenchmarks(ctx, &workloadresizerv1.ListBenchmarksRequest{}) {
			if err != nil {
				return nil, err
			}
			machines[print.OneLine(b.GetBenchmark())] += b.GetMachines()
		}
		for _, name := range slices.Sorted(maps.Keys(machines)) {
			found = append(found, cobra.CompletionWithDesc(name, "on "+print.CountOf(machines[name], "machine")))
		}
		return found, nil
	})
}
