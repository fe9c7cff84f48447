package print

import (
	"fmt"
	"io"
)

// WarnHidden warns that an answer is incomplete: it leaves out what is in namespaces that the
// caller may not see. which is what it leaves out, e.g. "pods".
func WarnHidden(errOut io.Writer, incomplete bool, which string) error {
	if !incomplete {
		return nil
	}
	_, err := fmt.Fprintf(errOut, "warning: %s in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces\n", which)
	return err
}
