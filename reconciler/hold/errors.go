package hold

import (
	"errors"
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// maxHolds and maxBytes bound what is stored. The API server takes a ConfigMap
// of 1 MiB.
const (
	maxHolds = 5000
	maxBytes = 1_000_000
)

// ErrReadOnly tells that this process must not write.
var ErrReadOnly = errors.New("holds cannot be changed: the server runs with --dry-run and writes nothing")

// CoveredError tells that the scope to release has no hold of its own, while a
// wider one covers it.
type CoveredError struct {
	Scope Scope
	// By is the wider hold.
	By Hold
}

func (e *CoveredError) Error() string {
	wider, flag := "every pod of the cluster", "-A"
	if e.By.Scope.Namespace != "" {
		wider, flag = "every pod of "+e.By.Scope.String(), "-n "+e.By.Scope.Namespace
	}
	by := ""
	if e.By.Author != "" {
		by = " by " + e.By.Author
	}
	return fmt.Sprintf("%s is not %s by itself: %s is%s; \"resizectl resume %s --kind %s\" ends that one hold",
		e.Scope, e.By.Kind.participle(), wider, by, flag, strings.ToLower(string(e.By.Kind)))
}

// FullError tells that no more holds can be stored.
type FullError struct{ Holds, Bytes int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d holds of %d bytes are more than the %d holds or %d bytes that can be kept: hold namespaces (-n) instead of single pods",
		e.Holds, e.Bytes, maxHolds, maxBytes)
}

// MissingError tells that the ConfigMap to write to is not there.
type MissingError struct {
	Source follow.ConfigMap
	// Held counts the holds that stay in force all the same.
	Held int
}

func (e *MissingError) Error() string {
	if e.Held > 0 {
		return fmt.Sprintf("%s, which keeps the holds, does not exist; the %d last known stay in force here until it is there again or the server starts anew: apply it with these, or deploy/base, which has it without any",
			e.Source, e.Held)
	}
	return fmt.Sprintf("%s, which keeps the holds, does not exist: apply deploy/base, which has it", e.Source)
}

// ContentError tells that the ConfigMap's content cannot be read.
type ContentError struct {
	Source follow.ConfigMap
	Err    error
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("%s: %v: correct that, or remove the key to end all holds", e.Source, e.Err)
}

// Unwrap returns what is wrong with the content.
func (e *ContentError) Unwrap() error { return e.Err }

// RefusedError tells that the API server refuses to have the ConfigMap read or
// written, and would again.
type RefusedError struct {
	Source follow.ConfigMap
	Err    error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the API server refuses to have %s changed: %v: see that the server has the rights of deploy/base and no policy objects", e.Source, e.Err)
}

// Unwrap returns what the API server says.
func (e *RefusedError) Unwrap() error { return e.Err }
