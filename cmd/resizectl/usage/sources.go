package usage

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func newSourcesCommand(out print.Output, server *connect.Connection) *cobra.Command {
	collecting := false
	return objects.List[*workloadresizerv1.UsageSource, *workloadresizerv1.UsageSource]{
		Verb: objects.Verb{
			Use:   "sources",
			Short: "Show where usage comes from, how recent it is, and where history is stored",
			Long: `Show where usage comes from, how recent it is, and where history is stored.

The first source is preferred: while it delivers, the others stand by. AGE is how long ago
the end of the time is that was read, and NEWEST how old the newest sample is. COUNTED and
REJECTED are the samples since the replica started, and WAITING those whose pods are not
known yet. BACKFILL is how much of the first read is done, while it runs.

STATE is

  - good: it is read, and its newest sample is at most 15 minutes older
  - failing: the last read failed, or was not complete
  - backfill: its first read still runs
  - no reports: nobody has reported usage to the source push since the replica started
  - no samples: it was read, and had no samples since the replica started
  - silent: it is read, but its newest sample is more than 15 minutes older
  - not read: the replica that answers has not read it

If something is wrong, a warning on standard error says what to do. Only the leader reads
sources, and the output comes from the replica that answers. If that is not the leader, it
knows only what the leader has stored.

-o wide also shows where the first read begins, and the ConfigMaps that store history.`,
			Example: `  # Show whether usage is collected
  resizectl usage sources

  # Show the ConfigMaps that store history
  resizectl usage sources -o wide`,
		},
		Kind: func(o *print.Output) objects.Kind[*workloadresizerv1.UsageSource, *workloadresizerv1.UsageSource] {
			return sourceKind(o, collecting)
		},
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.UsageSource], error) {
			resp, err := c.GetUsageStatus(ctx)
			collecting = resp.GetCollecting()
			return &objects.Answer[*workloadresizerv1.UsageSource]{
				Objects: resp.GetSources(), Document: []proto.Message{resp},
				Below:   func(o *print.Output) error { return printStorage(o, resp) },
				Remarks: usageWarnings(resp),
			}, err
		},
	}.Command(out, server)
}

// printStorage prints where history is stored.
func printStorage(o *print.Output, resp *workloadresizerv1.GetUsageStatusResponse) error {
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	if err := print.Lines(o.Out, 10, storageLines(o, resp)); err != nil {
		return err
	}
	if shards := resp.GetStorage().GetShards(); o.Wide() && len(shards) > 0 {
		return o.TableBelow(objects.Table(shardColumns(o), shards...))
	}
	return nil
}

// usageWarnings say what is wrong, and what to do about it.
func usageWarnings(resp *workloadresizerv1.GetUsageStatusResponse) (texts []string) {
	if !resp.GetCollecting() {
		texts = append(texts, "note: the replica that answers does not lead, or has not read the stored history yet, so it reads no source; \"resizectl status\" shows which replica leads")
	}
	for _, source := range resp.GetSources() {
		if sourceState(source, resp.GetCollecting()).Text == noReports {
			texts = append(texts, "note: nobody has reported usage to the source push: without node agents that report, remove push from --usage-sources of the server, or add the agents (docs/reference.md#usage-from-node-agents)")
		}
	}
	for _, problem := range print.UsageProblems(resp) {
		text := "warning: " + problem.Message
		if problem.Remedy != "" {
			text += "; " + problem.Remedy
		}
		texts = append(texts, text)
	}
	return texts
}
