package translate

import (
	"errors"

	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// HoldsError returns an error of the store of holds as the caller with this view may read it: it
// quotes the content of the ConfigMap, which names all namespaces, only if the caller can see them
// all.
func HoldsError(view interface{ SeesAll() (bool, error) }, err error) error {
	if content := (*hold.ContentError)(nil); !errors.As(err, &content) {
		return err
	}
	if all, unknown := view.SeesAll(); unknown != nil || !all {
		return err
	}
	return hold.Quoted(err)
}
