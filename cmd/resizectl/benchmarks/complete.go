package benchmarks

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

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
