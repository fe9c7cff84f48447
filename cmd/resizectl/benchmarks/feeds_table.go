package benchmarks

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var feedColumns = []metav1.TableColumnDefinition{
	print.Column("Name"), print.Column("Format"), print.Column("State"), print.Column("Rows"), print.Column("Samples"), print.Column("Skipped"), print.Column("Bad"), print.Column("Read"),
	print.WideColumn("Tried"), print.WideColumn("Location"),
}

// feedName returns what -o name prints.
func feedName(feed *workloadresizerv1.Feed) string { return "feed/" + feed.GetName() }

func feedsTable(o *print.Output, feeds []*workloadresizerv1.Feed) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: feedColumns}
	for _, feed := range feeds {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			print.OneLine(feed.GetName()), print.OneLine(feed.GetFormat()), feedState(feed),
			fmt.Sprint(feed.GetRows()), fmt.Sprint(feed.GetSamples()), fmt.Sprint(feed.GetSkipped()), fmt.Sprint(feed.GetBad()),
			o.Age(feed.GetLastSuccessTime()), o.Age(feed.GetLastTryTime()), print.OrAbsent(print.OneLine(feed.GetLocation())),
		}})
	}
	return table
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

// printFeedFaults prints what is wrong with the rows, one line each.
func printFeedFaults(w io.Writer, feeds []*workloadresizerv1.Feed) error {
	for _, feed := range feeds {
		for _, fault := range feed.GetFaults() {
			if err := printFault(w, feed.GetName(), int(fault.GetLine()), fault.GetField(), fault.GetMessage()); err != nil {
				return err
			}
		}
		if err := printMoreFaults(w, feed.GetName(), feed.GetBad()-int64(len(feed.GetFaults())), "bad"); err != nil {
			return err
		}
	}
	return nil
}
