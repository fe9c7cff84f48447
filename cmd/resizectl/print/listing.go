package print

import (
	"fmt"
	"io"
)

// Lister prints only the objects in an answer: their names, or the columns of the user's choice.
type Lister[M any] struct {
	w       io.Writer
	nameOf  func(M) string
	columns *columnPrinter
}

// NewLister returns a printer for a format that IsListing.
func NewLister[M any](w io.Writer, o *Output, nameOf func(M) string) *Lister[M] {
	l := &Lister[M]{w: w, nameOf: nameOf}
	if o.Format.columns != nil {
		l.columns = newColumnPrinter(w, o.Format.columns, !o.NoHeaders)
	}
	return l
}

// Print prints objects: a line each, and before the first of them the headers of columns.
func (l *Lister[M]) Print(all ...M) error {
	if l.columns == nil {
		for _, m := range all {
			if _, err := fmt.Fprintln(l.w, OneLine(l.nameOf(m))); err != nil {
				return err
			}
		}
		return nil
	}
	objects := make([]map[string]any, len(all))
	for i, m := range all {
		fields, err := Object(m)
		if err != nil {
			return err
		}
		objects[i] = fields
	}
	return l.columns.print(objects...)
}

// Listing prints objects on standard output, in a format that IsListing. nameOf is not called if they have no names.
func Listing[M any](o *Output, nameOf func(M) string, all ...M) error {
	return NewLister(o.Out, o, nameOf).Print(all...)
}
