package print

import (
	"fmt"
	"io"
)

// WarnHidden warns that an answer leaves out what is in namespaces that the caller may not see,
// if hidden is above 0, as the field hidden_namespaces of the answer. which is what it leaves
// out, e.g. "pods".
func WarnHidden(errOut io.Writer, hidden int64, which string) error {
	if hidden == 0 {
		return nil
	}
	_, err := fmt.Fprintf(errOut, "warning: %s in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n", which)
	return err
}
