package hold

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// maxHolds and maxBytes bound what is stored. The API server takes a ConfigMap
// of 1 MiB.
const (
	maxHolds = 5000
	maxBytes = 1_000_000
)

// CoveredError tells that the scope to release has no hold of its own, while a
// wider one covers it.
type CoveredError struct {
	Scope Scope
	// By is the wider hold.
	By Hold
}

func (e *CoveredError) Error() string {
	wider, which := "every pod of the cluster", "-A"
	if s := e.By.Scope; s.Namespace != "" {
		wider, which = "every pod of "+s.String(), "-n "+s.Namespace
		if s.Workload != (safety.Workload{}) {
			which = s.Workload.Kind + "/" + s.Workload.Name + " " + which
		}
	}
	by := ""
	if e.By.Author != "" {
		by = " by " + e.By.Author
	}
	return fmt.Sprintf("%s is not %s by itself: %s is%s; \"resizectl resume %s --kind %s\" ends that one hold",
		e.Scope, e.By.Kind.participle(), wider, by, which, strings.ToLower(string(e.By.Kind)))
}

// FullError tells that no more holds can be stored.
type FullError struct{ Holds, Bytes int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d holds of %d bytes are more than the %d holds or %d bytes that can be kept: hold namespaces (-n) or workloads instead of single pods",
		e.Holds, e.Bytes, maxHolds, maxBytes)
}

// noun is what messages call what is stored.
const noun = "holds"

// ErrReadOnly tells that this process must not write.
var ErrReadOnly error = document.ReadOnlyError{Noun: noun}

type (
	// MissingError tells that the ConfigMap to write to is not there.
	MissingError = document.MissingError
	// ContentError tells that the ConfigMap's content cannot be read.
	ContentError = document.ContentError
	// RefusedError tells that the API server refuses to have the ConfigMap read
	// or written, and would again.
	RefusedError = document.RefusedError
)
