package print

import (
	"encoding/json"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Lister prints only the objects in an answer: their names, or the columns of the user's choice.
type Lister[M proto.Message] struct {
	w       io.Writer
	nameOf  func(M) string
	columns *columnPrinter
}

// NewLister returns a printer for a format that IsListing.
func NewLister[M proto.Message](w io.Writer, o *Output, nameOf func(M) string) *Lister[M] {
	l := &Lister[M]{w: w, nameOf: nameOf}
	if o.Format.columns != nil {
		l.columns = newColumnPrinter(w, o.Format.columns, !o.NoHeaders)
	}
	return l
}

// Print prints objects: a line each, and before the first of them the headers of columns.
func (l *Lister[M]) Print(messages ...M) error {
	if l.columns == nil {
		for _, m := range messages {
			if _, err := fmt.Fprintln(l.w, OneLine(l.nameOf(m))); err != nil {
				return err
			}
		}
		return nil
	}
	objects := make([]map[string]any, len(messages))
	for i, m := range messages {
		fields, err := Object(m)
		if err != nil {
			return err
		}
		objects[i] = fields
	}
	return l.columns.print(objects...)
}

// Listing prints objects on standard output, in a format that IsListing.
func Listing[M proto.Message](o *Output, nameOf func(M) string, messages ...M) error {
	return NewLister(o.Out, o, nameOf).Print(messages...)
}

// Columns prints values that are no messages in the columns of the user's choice.
func Columns[T any](o *Output, values ...T) error {
	objects := make([]map[string]any, len(values))
	for i, value := range values {
		fields, err := Fields(value)
		if err != nil {
			return err
		}
		objects[i] = fields
	}
	return newColumnPrinter(o.Out, o.Format.columns, !o.NoHeaders).print(objects...)
}

// Fields returns a value for Columns and SortBy: the fields of its JSON.
func Fields[T any](value T) (map[string]any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write the answer as JSON: %w", err)
	}
	fields := map[string]any{}
	if err := utiljson.Unmarshal(raw, &fields); err != nil {
		return nil, fmt.Errorf("read the answer's JSON: %w", err)
	}
	return fields, nil
}
