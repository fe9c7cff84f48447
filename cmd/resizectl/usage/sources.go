package usage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/api/resource"

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
			return SourceKind(o, collecting)
		},
		Fetch: func(ctx context.Context, c *client.Client, _ *print.Output) (*objects.Answer[*workloadresizerv1.UsageSource], error) {
			resp, err := c.GetUsageStatus(ctx)
			collecting = resp.GetCollecting()
			return &objects.Answer[*workloadresizerv1.UsageSource]{
				Objects: resp.GetSources(), Document: []proto.Message{resp},
				Below:   func(o *print.Output) error { return printStorage(o, resp) },
				Remarks: SourceWarnings(resp),
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

// SourceWarnings say what is wrong, and what to do about it.
func SourceWarnings(resp *workloadresizerv1.GetUsageStatusResponse) (texts []string) {
	if !resp.GetCollecting() {
		texts = append(texts, "note: the replica that answers does not lead, or has not read the stored history yet, so it reads no source; \"resizectl status\" shows which replica leads")
	}
	for _, source := range resp.GetSources() {
		if sourceState(source, resp.GetCollecting()).Text == noReports {
			texts = append(texts, "note: nobody has reported usage to the source push: without node agents that report, remove push from --usage-sources of the server, or add the agents (docs/reference/node-agents.md#usage)")
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

// SourceKind describes sources; collecting means that the replica that answers reads them.
func SourceKind(o *print.Output, collecting bool) objects.Kind[*workloadresizerv1.UsageSource, *workloadresizerv1.UsageSource] {
	type source = *workloadresizerv1.UsageSource
	return objects.Kind[source, source]{
		Name: func(s source) string { return "source/" + s.GetName() },
		Rows: objects.Itself[source],
		Columns: []objects.Column[source]{
			objects.Text("Source", source.GetName),
			objects.Cell("State", func(s source) any { return sourceState(s, collecting) }),
			objects.Cell("Interval", func(s source) any { return intervalText(s) }),
			objects.Cell("Age", func(s source) any { return o.Age(s.GetReadTime()) }),
			objects.Cell("Newest", func(s source) any { return o.Age(s.GetSampleTime()) }),
			objects.Count("Counted", source.GetCounted),
			objects.Count("Rejected", source.GetRejected),
			objects.Count("Waiting", source.GetWaiting),
			objects.Cell("Backfill", func(s source) any { return backfillText(s) }),
			objects.Cell("Read Until", func(s source) any { return print.Timestamp(s.GetReadTime()) }).Wide(),
			objects.Cell("Backfill From", func(s source) any { return print.Timestamp(s.GetBackfillBeginTime()) }).Wide(),
		},
	}
}

// silence is how old the newest sample may be when a source is read. After this time, the server lets the
// next source count.
const silence = 15 * time.Minute

// noReports is the state of the source push before the first report.
const noReports = "no reports"

// sourceState returns, in a word or two, whether a source needs attention. collecting means that the
// replica that answers reads it.
func sourceState(s *workloadresizerv1.UsageSource, collecting bool) print.Cell {
	switch {
	case s.GetMessage() != "":
		return print.Cell{Text: "failing", Style: print.Red}
	case !collecting, s.GetReadTime() == nil && s.GetSampleTime() == nil:
		return print.Cell{Text: "not read", Style: print.Dim}
	case backfills(s):
		return print.Cell{Text: "backfill", Style: print.Notable}
	case s.GetSampleTime() == nil && isPush(s):
		return print.Cell{Text: noReports, Style: print.Notable}
	case s.GetSampleTime() == nil:
		return print.Cell{Text: "no samples", Style: print.Notable}
	case s.GetReadTime().AsTime().Sub(s.GetSampleTime().AsTime()) > silence:
		return print.Cell{Text: "silent", Style: print.Notable}
	}
	return print.Cell{Text: "good"}
}

// isPush reports whether a source has only what node agents and other callers report.
func isPush(s *workloadresizerv1.UsageSource) bool { return s.GetName() == "push" }

// intervalText returns how often a source is read. A source that is not read has none.
func intervalText(s *workloadresizerv1.UsageSource) string {
	interval := s.GetReadIntervalDuration().AsDuration()
	if interval <= 0 {
		return print.Absent
	}
	text := interval.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// backfills reports whether the first read still runs.
func backfills(s *workloadresizerv1.UsageSource) bool {
	return s.BackfillProgress != nil && s.GetBackfillProgress() < 1
}

func backfillText(s *workloadresizerv1.UsageSource) string {
	if !backfills(s) {
		return print.Absent
	}
	// It is not done at 100%.
	return fmt.Sprintf("%d%%", min(int(100*s.GetBackfillProgress()), 99))
}

// storageLines are the values below the table.
func storageLines(o *print.Output, resp *workloadresizerv1.GetUsageStatusResponse) [][2]string {
	lines := [][2]string{{"history", fmt.Sprintf("%s, %s", print.CountOf(resp.GetContainers(), "container"), print.CountOf(resp.GetRecommendations(), "recommendation"))}}
	storage := resp.GetStorage()
	if storage == nil {
		return append(lines, [2]string{"storage", o.Painter().Paint(print.Notable, "none: history is lost when the server stops")})
	}
	text := fmt.Sprintf("%s, %s", print.CountOf(int64(len(storage.GetShards())), "ConfigMap"), bytesText(storage.GetBytes()))
	if storage.GetStoreTime() != nil {
		text += ", the oldest stored " + o.Age(storage.GetStoreTime()) + " ago"
	}
	return append(lines, [2]string{"storage", text})
}

func shardColumns(o *print.Output) []objects.Column[*workloadresizerv1.UsageShard] {
	type shard = *workloadresizerv1.UsageShard
	return []objects.Column[shard]{
		objects.Cell("ConfigMap", func(s shard) any { return print.OneLine(s.GetName()) }),
		objects.Cell("Stored", func(s shard) any { return o.Age(s.GetStoreTime()) }),
		objects.Cell("Size", func(s shard) any { return bytesText(s.GetBytes()) }),
		objects.Cell("Containers", func(s shard) any {
			if s.GetMessage() != "" && s.GetContainers() == 0 {
				return print.Absent // It cannot be read, so this is not known.
			}
			return fmt.Sprint(s.GetContainers())
		}),
		objects.Cell("Message", func(s shard) any {
			return print.Marked(print.OneLine(s.GetMessage()), print.Red)
		}),
	}
}

// bytesText returns the size of stored data, in whole KiB below some MiB.
func bytesText(n int64) string {
	const ki, mi = 1 << 10, 1 << 20
	if n < ki {
		return fmt.Sprintf("%dB", n)
	}
	if n >= 10*mi {
		return print.Memory.Text(*resource.NewQuantity(n, resource.BinarySI))
	}
	return fmt.Sprintf("%dKi", (n+ki/2)/ki)
}
