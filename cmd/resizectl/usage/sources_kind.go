package usage

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// sourceKind describes sources; collecting means that the replica that answers reads them.
func sourceKind(o *print.Output, collecting bool) objects.Kind[*workloadresizerv1.UsageSource, *workloadresizerv1.UsageSource] {
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
		return bytes(*resource.NewQuantity(n, resource.BinarySI))
	}
	return fmt.Sprintf("%dKi", (n+ki/2)/ki)
}
