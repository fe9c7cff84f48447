package benchmarks

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// faultLine says what is wrong with a row of a file or feed, in the form that editors
// recognize. Line 0 is an unknown line, and an empty field is the whole row.
func faultLine(where string, line int, field, message string) string {
	text := print.OneLine(where)
	if line > 0 {
		text += fmt.Sprintf(":%d", line)
	}
	if field != "" {
		text += ": " + print.OneLine(field)
	}
	return text + ": " + print.OneLine(message)
}

// moreFaults says how many more rows there are that are not shown; empty if there are none.
func moreFaults(where string, n int64, how string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%s: not shown: %s", print.OneLine(where), print.CountOf(n, "more "+how+" row"))
}
