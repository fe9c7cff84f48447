package access

import (
	"fmt"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// MustSee is the error of a caller that names a namespace it may not see; empty
// names none.
func MustSee(view View, namespace string) error {
	if namespace == "" {
		return nil
	}
	sees, err := view.Sees(namespace)
	if err == nil && !sees {
		err = rpcerror.New(rpcerror.NamespaceNotVisible, fmt.Sprintf("you may not get pods in namespace %q", namespace))
	}
	return err
}
