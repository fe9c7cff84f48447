package print

import (
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// eventColumn is as wide from the beginning as the longest event, so that the columns do not
// move.
var eventColumn = Column("Event   ")

// EventPrinter prints the events of a watch as they arrive. It prints the rows of the
// current state together, so that their columns fit.
type EventPrinter[T any] struct {
	w      io.Writer
	output Format
	rows   *tableWriter
	// columns are the columns after eventColumn; rowsOf returns the rows of an object.
	columns []metav1.TableColumnDefinition
	rowsOf  func(T) []metav1.TableRow
	// nameOf returns what FormatName prints for an object.
	nameOf func(T) string
	// present are the rows of the current state, until it is complete.
	present  []metav1.TableRow
	complete bool
}

// NewEventPrinter returns a printer of objects, as rows of columns or by the names of nameOf.
func NewEventPrinter[T any](w io.Writer, p Painter, output Format, columns []metav1.TableColumnDefinition, rowsOf func(T) []metav1.TableRow, nameOf func(T) string) *EventPrinter[T] {
	return &EventPrinter[T]{
		w: w, output: output, rows: newTableWriter(w, p, output == FormatWide),
		columns: append([]metav1.TableColumnDefinition{eventColumn}, columns...), rowsOf: rowsOf, nameOf: nameOf,
	}
}

// Print prints an event, or keeps it until the current state is complete.
func (p *EventPrinter[T]) Print(event client.Event[T]) error {
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
	case event.Type == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_BOOKMARK:
		p.complete = true
	case p.output == FormatName:
		return Names(p.w, p.nameOf, event.Object)
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
