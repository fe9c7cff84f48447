package print

import (
	"io"
	"strings"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// eventColumn is as wide from the beginning as the longest event, so that the columns do not
// move.
var eventColumn = Column("Event   ")

// EventPrinter prints the events of a watch as they arrive. It prints the rows of the
// current state together, so that their columns fit.
type EventPrinter[M proto.Message] struct {
	w      io.Writer
	output Format
	rows   *tableWriter
	// columns are the columns after eventColumn; rowsOf returns the rows of an object.
	columns []metav1.TableColumnDefinition
	rowsOf  func(M) []metav1.TableRow
	// lister prints objects in formats without events.
	lister *Lister[M]
	// present are the rows of the current state, until it is complete.
	present  []metav1.TableRow
	complete bool
}

// NewEventPrinter returns a printer of objects, as rows of columns or by the names of nameOf.
func NewEventPrinter[M proto.Message](o *Output, columns []metav1.TableColumnDefinition, rowsOf func(M) []metav1.TableRow, nameOf func(M) string) *EventPrinter[M] {
	return &EventPrinter[M]{
		w: o.Out, output: o.Format, rows: newTableWriter(o.Out, o.Painter(), o.Wide(), o.NoHeaders),
		columns: append([]metav1.TableColumnDefinition{eventColumn}, columns...), rowsOf: rowsOf, lister: NewLister(o.Out, o, nameOf),
	}
}

// Print prints an event, or keeps it until the current state is complete.
func (p *EventPrinter[M]) Print(event client.Event[M]) error {
	switch {
	case event.Reset:
		p.present, p.complete = nil, false
		return nil
	case p.output == FormatJSON:
		return printLine(p.w, event.Response)
	case p.output == FormatYAML:
		if _, err := io.WriteString(p.w, "---\n"); err != nil {
			return err
		}
		return Document(p.w, p.output, event.Response)
	case p.output.template != nil:
		return Document(p.w, p.output, event.Response)
	case event.Type == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK:
		p.complete = true
	case p.output.IsListing():
		return p.lister.Print(event.Object)
	default:
		for _, row := range p.rowsOf(event.Object) {
			row.Cells = append([]any{eventText(event.Type)}, row.Cells...)
			p.present = append(p.present, row)
		}
	}
	if !p.complete {
		return nil
	}
	table := &metav1.Table{ColumnDefinitions: p.columns, Rows: p.present}
	p.present = nil
	return p.rows.print(table)
}

// eventText returns "added", "modified" or "deleted", or the name of a type that only a newer
// server knows.
func eventText(t workloadresizerv1.WatchEventType) string {
	return strings.ToLower(strings.TrimPrefix(t.String(), "WATCH_EVENT_TYPE_"))
}
