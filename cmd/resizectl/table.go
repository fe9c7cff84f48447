package main

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/printers"
)

// column is a column that is always shown, wideColumn one of -o wide only.
func column(name string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string"}
}

func wideColumn(name string) metav1.TableColumnDefinition {
	c := column(name)
	c.Priority = 1
	return c
}

// printTable prints a table as kubectl does; one without rows prints nothing.
func printTable(w io.Writer, table *metav1.Table, wide bool) error {
	checked := &errWriter{Writer: w}
	if err := printers.NewTablePrinter(printers.PrintOptions{Wide: wide}).PrintObj(table, checked); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return checked.err
}

// errWriter keeps the first error of its Writer: the table printer drops them.
type errWriter struct {
	io.Writer
	err error
}

func (w *errWriter) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.Writer.Write(p)
	w.err = err
	return n, err
}
