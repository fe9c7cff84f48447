package print

import (
	"fmt"
	"io"
)

// Lines prints single values as "name: text". All texts begin in the same column, after width
// characters.
func Lines(w io.Writer, width int, lines [][2]string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%-*s%s\n", width, line[0]+":", line[1]); err != nil {
			return err
		}
	}
	return nil
}
