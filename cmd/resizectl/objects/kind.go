package objects

import (
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// Kind describes objects of the API. A row is about an R: an object, or one of its parts.
type Kind[M proto.Message, R any] struct {
	// Name returns what -o name prints; nil if the objects have no names.
	Name func(M) string
	// Rows returns what the rows of an object are about.
	Rows    func(M) []R
	Columns []Column[R]
	// Dim reports whether a row needs no attention; nil if all do.
	Dim func(R) bool
}

// Column is a column of a table.
type Column[R any] struct {
	header  string
	cell    func(R) any
	wide    bool
	ifAny   bool
	count   bool
	roomFor string
}

// Cell returns a column whose cells are texts, or a print.Cell each.
func Cell[R any](header string, of func(R) any) Column[R] { return Column[R]{header: header, cell: of} }

// Text returns a column whose cells are what users or clusters named or wrote.
func Text[R any](header string, of func(R) string) Column[R] {
	return Cell(header, func(r R) any { return print.OrAbsent(print.OneLine(of(r))) })
}

// Count returns a column of numbers.
func Count[R any](header string, of func(R) int64) Column[R] {
	c := Cell(header, func(r R) any { return strconv.FormatInt(of(r), 10) })
	c.count = true
	return c
}

// Wide makes it a column of -o wide.
func (c Column[R]) Wide() Column[R] {
	c.wide = true
	return c
}

// IfAny makes it a column of lists in which any of its cells says something.
func (c Column[R]) IfAny() Column[R] {
	c.ifAny = true
	return c
}

// RoomFor makes room for text that may follow in a watch. The rows of a list are known.
func (c Column[R]) RoomFor(text string) Column[R] {
	c.roomFor = text
	return c
}

// Pick returns the columns with these headers, in this order.
func Pick[R any](columns []Column[R], headers ...string) []Column[R] {
	picked := make([]Column[R], len(headers))
	for i, header := range headers {
		picked[i] = columns[slices.IndexFunc(columns, func(c Column[R]) bool { return c.header == header })]
	}
	return picked
}

// Itself returns the rows of objects that have one each.
func Itself[M any](m M) []M { return []M{m} }

// Table returns a table with a row for each of these.
func Table[R any](columns []Column[R], rows ...R) *metav1.Table {
	return Kind[proto.Message, R]{Columns: columns}.table(rows)
}

// Table returns the rows of objects as a table.
func (k Kind[M, R]) Table(all ...M) *metav1.Table {
	var of []R
	for _, m := range all {
		of = append(of, k.Rows(m)...)
	}
	return k.table(of)
}

func (k Kind[M, R]) table(of []R) *metav1.Table {
	k.Columns = slices.DeleteFunc(slices.Clone(k.Columns), func(c Column[R]) bool {
		return c.ifAny && !slices.ContainsFunc(of, func(r R) bool { return fmt.Sprint(c.cell(r)) != print.Absent })
	})
	return &metav1.Table{ColumnDefinitions: k.definitions(func(c Column[R]) string { return c.header }), Rows: k.cells(of)}
}

// Events returns a printer of events, whose columns have room for what may follow.
func (k Kind[M, R]) Events(o *print.Output) *print.EventPrinter[M] {
	k.Columns = slices.DeleteFunc(slices.Clone(k.Columns), func(c Column[R]) bool { return c.ifAny })
	columns := k.definitions(func(c Column[R]) string { return fmt.Sprintf("%-*s", len(c.roomFor), c.header) })
	rowsOf := func(m M) []metav1.TableRow { return k.cells(k.Rows(m)) }
	return print.NewEventPrinter(o, columns, rowsOf, k.Name)
}

func (k Kind[M, R]) definitions(header func(Column[R]) string) []metav1.TableColumnDefinition {
	all := make([]metav1.TableColumnDefinition, len(k.Columns))
	for i, c := range k.Columns {
		all[i] = metav1.TableColumnDefinition{Name: header(c), Type: "string"}
		if c.count {
			all[i].Type = "integer"
		}
		if c.wide {
			all[i].Priority = 1
		}
	}
	return all
}

func (k Kind[M, R]) cells(of []R) []metav1.TableRow {
	rows := make([]metav1.TableRow, len(of))
	for i, r := range of {
		dim := k.Dim != nil && k.Dim(r)
		for _, c := range k.Columns {
			cell := c.cell(r)
			if dim {
				cell = print.Cell{Text: fmt.Sprint(cell), Style: print.Dim}
			}
			rows[i].Cells = append(rows[i].Cells, cell)
		}
	}
	return rows
}
