package servertest

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// Viewer is a viewer, and the view that all its callers have.
type Viewer func(namespace string) (bool, error)

// View implements access.Viewer.
func (v Viewer) View(context.Context) access.View { return v }

// Sees implements access.View.
func (v Viewer) Sees(namespace string) (bool, error) { return v(namespace) }

// All sees everything.
var All = AllBut()

// Only sees these namespaces.
func Only(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) { return slices.Contains(namespaces, namespace), nil }
}

// AllBut sees all namespaces but these.
func AllBut(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) { return !slices.Contains(namespaces, namespace), nil }
}

// Unknown cannot tell.
func Unknown(err error) Viewer {
	return func(string) (bool, error) { return false, err }
}
