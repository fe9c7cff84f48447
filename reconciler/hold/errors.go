package hold

import (
	"errors"
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
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
		if s.Workload != (workload.Workload{}) {
			wider, which = "every pod of "+s.String(), s.Workload.Kind+"/"+s.Workload.Name+" "+which
		}
	}
	by := ""
	if e.By.Author != "" {
		by = ", by " + e.By.Author
	}
	return fmt.Sprintf("%s is not %s on its own: %s is%s; run \"resizectl resume %s --kind %s\" to end that hold",
		e.Scope, e.By.Kind.participle(), wider, by, which, e.By.Kind.lower())
}

// noun names the stored entries in messages.
const noun = "holds"

// ErrReadOnly and ErrFreezeReadOnly mean that this process must not write.
var (
	ErrReadOnly       error = document.ReadOnlyError{Noun: noun}
	ErrFreezeReadOnly error = document.ReadOnlyError{Noun: "freezes"}
)

type (
	// MissingError means that the ConfigMap to write to does not exist.
	MissingError = document.MissingError
	// ContentError means that the ConfigMap's content is invalid. The errors of a Store wrap it,
	// so that their text does not quote the content; Quoted does.
	ContentError = document.ContentError
	// RefusedError means that the API server rejected a read or a write of the
	// ConfigMap, and would reject it again.
	RefusedError = document.RefusedError
)

// unquoted is a *ContentError whose text does not quote the content: it names namespaces, authors
// and reasons, and reaches callers who may not see them.
type unquoted struct{ *ContentError }

func (e unquoted) Error() string {
	return fmt.Sprintf("%s is invalid: correct its content; an event on the ConfigMap and the server's log say what is wrong", e.Source)
}

// Unwrap returns the error that quotes the content.
func (e unquoted) Unwrap() error { return e.ContentError }

// unquote returns an error of the document for callers who may not see its content.
func unquote(err error) error {
	var content *ContentError
	if errors.As(err, &content) {
		return unquoted{content}
	}
	return err
}

// Quoted returns an error of a Store as those may read it who can see all namespaces.
func Quoted(err error) error {
	var e unquoted
	if errors.As(err, &e) {
		return e.ContentError
	}
	return err
}
