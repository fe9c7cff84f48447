package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/liggitt/tabwriter"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// Column is a column that is always shown.
func Column(name string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string"}
}

// WideColumn is a column of -o wide only.
func WideColumn(name string) metav1.TableColumnDefinition {
	c := Column(name)
	c.Priority = 1
	return c
}

// tableWriter prints a table as kubectl does, or its parts as they arrive; a table without
// rows prints nothing. The columns are as wide as the widest cells so far, and the header
// comes with the first part that has rows.
type tableWriter struct {
	w       io.Writer
	painter Painter
	wide    bool
	// laid is the text that the printer has laid out, not colored yet.
	laid    bytes.Buffer
	columns *tabwriter.Writer
	printer printers.ResourcePrinter
}

func newTableWriter(w io.Writer, p Painter, wide, noHeaders bool) *tableWriter {
	t := &tableWriter{w: w, painter: p, wide: wide, printer: printers.NewTablePrinter(printers.PrintOptions{Wide: wide, NoHeaders: noHeaders})}
	t.columns = printers.GetNewTabWriter(&t.laid)
	return t
}

func (t *tableWriter) print(table *metav1.Table) error {
	if err := t.printer.PrintObj(table, t.columns); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	if err := t.columns.Flush(); err != nil {
		return fmt.Errorf("lay out the table: %w", err)
	}
	defer t.laid.Reset()
	if !t.painter.on {
		_, err := t.laid.WriteTo(t.w)
		return err
	}
	_, err := io.WriteString(t.w, t.colored(table))
	return err
}

// colored returns the laid-out lines in colors: one line per row, after the header if there
// is one.
func (t *tableWriter) colored(table *metav1.Table) string {
	lines := strings.SplitAfter(t.laid.String(), "\n")
	lines = lines[:len(lines)-1]
	header := len(lines) - len(table.Rows)
	for i, row := range table.Rows {
		var visible []any
		for j, cell := range row.Cells {
			if t.wide || table.ColumnDefinitions[j].Priority == 0 {
				visible = append(visible, cell)
			}
		}
		lines[header+i] = t.painter.paintLine(lines[header+i], visible)
	}
	return strings.Join(lines, "")
}

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
	// keyOf and shown are set by OnlyVisible: which rows an object had when it was last printed.
	keyOf func(M) string
	shown map[string]string
}

// OnlyVisible makes tables omit changes that no column shows. keyOf returns what identifies an object.
func (p *EventPrinter[M]) OnlyVisible(keyOf func(M) string) *EventPrinter[M] {
	p.keyOf, p.shown = keyOf, map[string]string{}
	return p
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
		rows := p.rowsOf(event.Object)
		if p.keyOf != nil && !p.visible(event, rows) {
			return nil
		}
		for _, row := range rows {
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

// visible reports whether the rows of an event differ from those that were last printed.
func (p *EventPrinter[M]) visible(event client.Event[M], rows []metav1.TableRow) bool {
	text := ""
	for _, row := range rows {
		for i, cell := range row.Cells {
			// The columns begin with that of the event.
			if p.output == FormatWide || p.columns[i+1].Priority == 0 {
				text += fmt.Sprintln(cell)
			}
		}
	}
	key := p.keyOf(event.Object)
	before, known := p.shown[key]
	if event.Type == workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_DELETED {
		delete(p.shown, key)
		return true
	}
	p.shown[key] = text
	return event.Type != workloadresizerv1.WatchEventType_WATCH_EVENT_TYPE_MODIFIED || !known || before != text
}

// eventText returns "added", "modified" or "deleted", or the name of a type that only a newer
// server knows.
func eventText(t workloadresizerv1.WatchEventType) string {
	return strings.ToLower(strings.TrimPrefix(t.String(), "WATCH_EVENT_TYPE_"))
}
