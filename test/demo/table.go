package main

import (
	"fmt"
	"io"
)

// row is a resize of one container.
type row struct{ pod, node, nodeType, container, cpu, memory string }

// table prints rows immediately, so its columns have fixed widths that suit the samples.
type table struct {
	out io.Writer
	// headed reports whether only rows were printed since the header.
	headed bool
}

func (t *table) row(r row) {
	if !t.headed {
		t.headed = true
		t.line(row{"POD", "NODE", "TYPE", "CONTAINER", "CPU REQUEST/LIMIT", "MEMORY REQUEST/LIMIT"})
	}
	t.line(r)
}

func (t *table) line(r row) {
	fmt.Fprintf(t.out, "%-21s  %-5s  %-4s  %-9s  %-21s  %s\n", r.pod, r.node, r.nodeType, r.container, r.cpu, r.memory)
}

// text prints text other than a row.
func (t *table) text(text string) error {
	t.headed = false
	_, err := io.WriteString(t.out, text)
	return err
}
