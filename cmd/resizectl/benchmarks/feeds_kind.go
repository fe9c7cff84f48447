package benchmarks

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/objects"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func feedKind(o *print.Output) objects.Kind[*workloadresizerv1.Feed, *workloadresizerv1.Feed] {
	type feed = *workloadresizerv1.Feed
	return objects.Kind[feed, feed]{
		Name: func(f feed) string { return "feed/" + f.GetName() },
		Rows: objects.Itself[feed],
		Columns: []objects.Column[feed]{
			objects.Text("Name", feed.GetName),
			objects.Text("Format", feed.GetFormat),
			objects.Cell("State", func(f feed) any { return feedState(f) }),
			objects.Count("Rows", feed.GetRows),
			objects.Count("Samples", feed.GetSamples),
			objects.Count("Skipped", feed.GetSkipped),
			objects.Count("Bad", feed.GetBad),
			objects.Cell("Read", func(f feed) any { return o.Age(f.GetLastSuccessTime()) }),
			objects.Cell("Tried", func(f feed) any { return o.Age(f.GetLastTryTime()) }).Wide(),
			objects.Text("Location", feed.GetLocation).Wide(),
		},
	}
}

// feedState returns, as a word, whether a feed needs attention.
func feedState(feed *workloadresizerv1.Feed) print.Cell {
	switch {
	case feed.GetLastTryTime() == nil:
		return print.Cell{Text: "waiting", Style: print.Dim}
	case feed.GetMessage() != "":
		return print.Cell{Text: "failing", Style: print.Red}
	case feed.GetBad() > 0:
		return print.Cell{Text: "bad-rows", Style: print.Notable}
	}
	return print.Cell{Text: "good"}
}

// feedFaults says what is wrong with the rows, one line each.
func feedFaults(feeds []*workloadresizerv1.Feed) (lines []string) {
	for _, feed := range feeds {
		for _, fault := range feed.GetFaults() {
			lines = append(lines, faultLine(feed.GetName(), int(fault.GetLine()), fault.GetField(), fault.GetMessage()))
		}
		lines = append(lines, moreFaults(feed.GetName(), feed.GetBad()-int64(len(feed.GetFaults())), "bad"))
	}
	return lines
}
