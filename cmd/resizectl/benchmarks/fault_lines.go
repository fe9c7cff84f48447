package benchmarks

import (
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// printFault prints what is wrong with a row of a file or feed, in the form that editors
// recognize. Line 0 is an unknown line, and an empty field is the whole row.
func printFault(w io.Writer, where string, line int, field, message string) error {
	text := print.OneLine(where)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if field != "" {
		text += ": " + print.OneLine(field)
	}
	_, err := fmt.Fprintf(w, "%s: %s\n", text, print.OneLine(message))
	return err
}

// printMoreFaults prints how many more rows there are that are not shown, if any.
func printMoreFaults(w io.Writer, where string, n int64, how string) error {
	if n <= 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: not shown: %s\n", print.OneLine(where), print.CountOf(n, "more "+how+" row"))
	return err
}
