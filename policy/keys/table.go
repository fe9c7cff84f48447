package keys

import (
	"fmt"
	"strings"
)

// Table returns the table of the keys of a section for the reference. Keys with the same description share a row.
func Table[T any]() string {
	var rows [][3]string
	names := map[[3]string][]string{}
	for _, k := range declared[T]().keys {
		row := [3]string{k.Values, k.Default, k.Meaning}
		if names[row] == nil {
			rows = append(rows, row)
		}
		names[row] = append(names[row], "`"+k.Name+"`")
	}
	var b strings.Builder
	b.WriteString("| Key | Values | Default | Meaning |\n|---|---|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(names[row], ", "), row[0], row[1], row[2])
	}
	return b.String()
}
