package usage

import (
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// remarkUnknown says what the table does not cover.
func remarkUnknown(errOut io.Writer, total *row) error {
	if total.UnknownContainers == 0 {
		return nil
	}
	unknown := total.unknown()
	_, err := fmt.Fprintf(errOut, "%d of %s unknown: their authors requested cpu %s and memory %s, which no sum counts; \"resizectl usage explain WORKLOAD\" shows why\n",
		total.UnknownContainers, are(total.Containers, "container"), cores(unknown.cpu), bytes(unknown.memory))
	return err
}

// are returns "1 container is" or e.g. "2 containers are".
func are(n int64, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return print.CountOf(n, what) + " are"
}
