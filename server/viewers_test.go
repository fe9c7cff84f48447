package server

import (
	"context"
	"slices"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// sees is a viewer, and the view that all its callers have.
type sees func(namespace string) (bool, error)

func (s sees) View(context.Context) access.View { return s }

func (s sees) Sees(namespace string) (bool, error) { return s(namespace) }

// all sees everything.
var all = allBut()

func only(namespaces ...string) sees {
	return func(namespace string) (bool, error) { return slices.Contains(namespaces, namespace), nil }
}

func allBut(namespaces ...string) sees {
	return func(namespace string) (bool, error) { return !slices.Contains(namespaces, namespace), nil }
}

// unknown cannot tell.
func unknown(err error) sees {
	return func(string) (bool, error) { return false, err }
}
