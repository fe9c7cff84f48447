package print

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/liggitt/tabwriter"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
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

// Table prints a whole table, with headers.
func Table(w io.Writer, p Painter, wide bool, table *metav1.Table) error {
	return newTableWriter(w, p, wide, false).print(table)
}
