package servertest

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// Viewer is a viewer, and the view of all its callers.
type Viewer func(namespace string) (bool, error)

// View implements access.Viewer.
func (v Viewer) View(context.Context) access.View { return v }

// Sees implements access.View.
func (v Viewer) Sees(namespace string) (bool, error) { return v(namespace) }

// All can see everything.
var All = AllBut()

// Only returns a viewer that can see only these namespaces.
func Only(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) { return slices.Contains(namespaces, namespace), nil }
}

// AllBut returns a viewer that can see all namespaces except for these.
func AllBut(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) { return !slices.Contains(namespaces, namespace), nil }
}

// Unknown returns a viewer that always fails.
func Unknown(err error) Viewer {
	return func(string) (bool, error) { return false, err }
}
