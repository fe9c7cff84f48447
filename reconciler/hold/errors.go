package hold

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// CoveredError means that the scope to release has no hold of its own, and a wider hold
// covers it.
type CoveredError struct {
	Scope Scope
	// By is the wider hold.
	By Hold
}

func (e *CoveredError) Error() string {
	wider, which := "every pod in the cluster", "-A"
	if s := e.By.Scope; s.Namespace != "" {
		wider, which = "every pod in "+s.String(), "-n "+s.Namespace
		if s.Workload != (safety.Workload{}) {
			wider, which = "every pod of "+s.String(), s.Workload.Kind+"/"+s.Workload.Name+" "+which
		}
	}
	by := ""
	if e.By.Author != "" {
		by = ", by " + e.By.Author
	}
	return fmt.Sprintf("%s is not %s on its own: %s is%s; run \"resizectl resume %s --kind %s\" to end that hold",
		e.Scope, e.By.Kind.participle(), wider, by, which, strings.ToLower(string(e.By.Kind)))
}

// noun names the stored entries in messages.
const noun = "holds"

// ErrReadOnly means that this process must not write.
var ErrReadOnly error = document.ReadOnlyError{Noun: noun}

type (
	// MissingError means that the ConfigMap to write to does not exist.
	MissingError = document.MissingError
	// ContentError means that the ConfigMap's content is invalid.
	ContentError = document.ContentError
	// RefusedError means that the API server rejected a read or a write of the
	// ConfigMap, and would reject it again.
	RefusedError = document.RefusedError
)
