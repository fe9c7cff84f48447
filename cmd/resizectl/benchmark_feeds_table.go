package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var feedColumns = []metav1.TableColumnDefinition{
	column("Name"), column("Format"), column("State"), column("Rows"), column("Samples"), column("Skipped"), column("Bad"), column("Read"),
	wideColumn("Tried"), wideColumn("Location"),
}

func feedsTable(feeds []*workloadresizerv1.Feed) *metav1.Table {
	table := &metav1.Table{ColumnDefinitions: feedColumns}
	for _, feed := range feeds {
		table.Rows = append(table.Rows, metav1.TableRow{Cells: []any{
			oneLine(feed.GetName()), oneLine(feed.GetFormat()), feedState(feed),
			fmt.Sprint(feed.GetRows()), fmt.Sprint(feed.GetSamples()), fmt.Sprint(feed.GetSkipped()), fmt.Sprint(feed.GetBad()),
			timestamp(feed.GetLastSuccessTime()), timestamp(feed.GetLastTryTime()), orAbsent(oneLine(feed.GetLocation())),
		}})
	}
	return table
}

// feedState is in a word what people have to look after.
func feedState(feed *workloadresizerv1.Feed) painted {
	switch {
	case feed.GetLastTryTime() == nil:
		return painted{"waiting", dim}
	case feed.GetMessage() != "":
		return painted{"failing", red}
	case feed.GetBad() > 0:
		return painted{"bad-rows", notable}
	}
	return painted{text: "good"}
}

// printFeedFaults prints what is wrong with the rows, a line each.
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
