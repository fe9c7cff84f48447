package main

import (
	"fmt"
	"io"
)

// row is a resize of one container.
type row struct{ pod, node, nodeType, container, cpu, memory string }

// table prints rows as they come, so its columns have the widths that the
// samples need.
type table struct {
	out io.Writer
	// headed tells that the header is the last thing above the rows.
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

// text prints something else than a row.
func (t *table) text(text string) error {
	t.headed = false
	_, err := io.WriteString(t.out, text)
	return err
}
