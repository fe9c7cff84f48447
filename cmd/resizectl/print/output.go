package print

import (
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Output is where a command prints, and how.
type Output struct {
	genericiooptions.IOStreams
	Color  *ColorMode
	Format Format
}

// Painter returns the painter for standard output.
func (o *Output) Painter() Painter { return o.Color.Painter(o.Out) }

// Wide reports whether tables show all their columns.
func (o *Output) Wide() bool { return o.Format == FormatWide }

// Table prints a table on standard output.
func (o *Output) Table(table *metav1.Table) error {
	return Table(o.Out, o.Painter(), o.Wide(), table)
}

// Document prints messages on standard output, as JSON or YAML: one object with the fields of all
// of them.
func (o *Output) Document(messages ...proto.Message) error {
	return Document(o.Out, o.Format, messages...)
}
