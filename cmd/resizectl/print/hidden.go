package print

import (
	"fmt"
	"io"
)

// WarnHidden warns of namespaces that an answer leaves out because the caller may not see
// them. which is what they contain, e.g. "pods".
func WarnHidden(errOut io.Writer, namespaces int64, which string) error {
	if namespaces == 0 {
		return nil
	}
	are := "are"
	if namespaces == 1 {
		are = "is"
	}
	_, err := fmt.Fprintf(errOut, "warning: %s with %s %s hidden from you: you cannot get pods there\n", CountOf(namespaces, "namespace"), which, are)
	return err
}
