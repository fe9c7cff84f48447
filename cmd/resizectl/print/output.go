package print

import (
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/cli-runtime/pkg/printers"
)

// Output is where a command prints, and how.
type Output struct {
	genericiooptions.IOStreams
	Color  *ColorMode
	Format Format
	// NoHeaders omits the headers of tables and columns.
	NoHeaders bool
	// SortBy is the order of objects in lists.
	SortBy SortPath
	// Now is the time that ages are counted to.
	Now func() time.Time
	// Commands returns text of this program in which the commands of kubectl and resizectl are as users must write
	// them for the selected cluster.
	Commands func(text string) string
}

// Painter returns the painter for standard output.
func (o *Output) Painter() Painter { return o.Color.Painter(o.Out) }

// To returns an output of the same kind to another writer.
func (o *Output) To(w io.Writer) Output {
	to := *o
	mode := colorNever
	if o.Painter().on {
		mode = colorAlways
	}
	to.Out, to.Color = w, &mode
	return to
}

// Wide reports whether tables show all their columns.
func (o *Output) Wide() bool { return o.Format == FormatWide }

// Table prints a table on standard output.
func (o *Output) Table(table *metav1.Table) error { return o.TableTo(o.Out, table) }

// TableBelow prints a table, if it has rows, below an empty line.
func (o *Output) TableBelow(table *metav1.Table) error {
	if len(table.Rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(o.Out); err != nil {
		return err
	}
	return o.Table(table)
}

// TableTo is like Table, through a writer to standard output.
func (o *Output) TableTo(w io.Writer, table *metav1.Table) error {
	return newTableWriter(w, o.Painter(), o.Wide(), o.NoHeaders).print(table)
}

// Document prints messages on standard output, in the form of the API: one object with the fields of
// all of them.
func (o *Output) Document(messages ...proto.Message) error {
	return Document(o.Out, o.Format, messages...)
}

// Value prints a value that is no message on standard output, like Document.
func (o *Output) Value(value any) error { return Value(o.Out, o.Format, value) }

// ColorMode is a value of --color.
type ColorMode string

const (
	ColorAuto   ColorMode = "auto"
	colorAlways ColorMode = "always"
	colorNever  ColorMode = "never"
)

// ColorModes are the values of --color.
var ColorModes = []string{string(ColorAuto), string(colorAlways), string(colorNever)}

// Painter returns the painter for output to w.
func (m *ColorMode) Painter(w io.Writer) Painter {
	switch *m {
	case colorAlways:
		return Painter{on: true}
	case colorNever:
		return Painter{}
	}
	return Painter{on: printers.AllowsColorOutput(w)}
}

// Style is how text looks, as the parameter of an SGR sequence, which every terminal
// supports. The colors come from the user's own palette.
type Style string

const (
	Plain   Style = ""
	Dim     Style = "2"
	Red     Style = "31"
	Notable Style = "33" // Yellow: unusual, but no error.
	Freed   Style = "32" // Green: a node has more room.
	Added   Style = "33" // Yellow: a node has less room.
)

// Painter colors what is printed. The zero painter leaves it as it is.
type Painter struct{ on bool }

// Paint returns text in a style.
func (p Painter) Paint(s Style, text string) string {
	if !p.on || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Cell is a cell of a table with its style.
type Cell struct {
	Text  string
	Style Style
}

// Marked returns a cell with text in a style; Absent if there is none.
func Marked(text string, style Style) Cell {
	if text == "" {
		return Cell{Text: Absent}
	}
	return Cell{text, style}
}

// CellText returns the text of a cell of a table.
func CellText(table *metav1.Table, row, column int) string {
	return fmt.Sprint(table.Rows[row].Cells[column])
}

// String returns the text that the table printer lays out.
func (c Cell) String() string { return c.Text }

// paintLine colors the cells in a line that is already laid out: sequences in the cells
// would count as text during the layout and shift the columns.
func (p Painter) paintLine(line string, cells []any) string {
	var out strings.Builder
	for _, cell := range cells {
		text, s := fmt.Sprint(cell), Plain
		if c, ok := cell.(Cell); ok {
			s = c.Style
		}
		text = strings.TrimSpace(text)
		before, after, ok := strings.Cut(line, text)
		if !ok || strings.TrimSpace(before) != "" {
			// The printer escapes some characters: such a line stays plain from
			// here on.
			break
		}
		out.WriteString(before + p.Paint(s, text))
		line = after
	}
	return out.String() + line
}
