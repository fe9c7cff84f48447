package print

import (
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
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
