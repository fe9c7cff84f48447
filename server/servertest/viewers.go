package servertest

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// Viewer is a viewer, and the view of all its callers. It reports whether they can see a
// namespace; if that is empty, all namespaces.
type Viewer func(namespace string) (bool, error)

// View implements access.Viewer.
func (v Viewer) View(context.Context) access.View { return v }

// Sees implements access.View.
func (v Viewer) Sees(namespace string) (bool, error) { return v(namespace) }

// SeesAll implements access.View.
func (v Viewer) SeesAll() (bool, error) { return v("") }

// Visible implements access.View.
func (v Viewer) Visible(namespaces ...string) (visible []string, err error) {
	for _, namespace := range namespaces {
		sees, err := v(namespace)
		if err != nil {
			return nil, err
		}
		if sees {
			visible = append(visible, namespace)
		}
	}
	return visible, nil
}

// All can see everything.
var All = AllBut()

// Only returns a viewer that can see only these namespaces.
func Only(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) { return slices.Contains(namespaces, namespace), nil }
}

// AllBut returns a viewer that can see all namespaces except for these.
func AllBut(namespaces ...string) Viewer {
	return func(namespace string) (bool, error) {
		if namespace == "" {
			return len(namespaces) == 0, nil
		}
		return !slices.Contains(namespaces, namespace), nil
	}
}

// Unknown returns a viewer that always fails.
func Unknown(err error) Viewer {
	return func(string) (bool, error) { return false, err }
}
