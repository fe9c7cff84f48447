package access

import (
	"fmt"

	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// MustSee returns an error if the caller cannot see the namespace that it names. An empty
// namespace names none.
func MustSee(view View, namespace string) error {
	if namespace == "" {
		return nil
	}
	sees, err := view.Sees(namespace)
	if err == nil && !sees {
		err = rpcerror.New(rpcerror.NamespaceNotVisible, fmt.Sprintf("you cannot get pods in namespace %q", namespace))
	}
	return err
}
