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

// Texts prints a line for each text that is not empty.
func Texts(w io.Writer, texts ...string) error {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// Hidden says that an answer is incomplete, because it leaves out what is in namespaces that the caller
// may not see; empty if it is not. which is what it leaves out, e.g. "pods".
func Hidden(incomplete bool, which string) string {
	if !incomplete {
		return ""
	}
	return fmt.Sprintf("warning: %s in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces", which)
}
