package document

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// ErrUnread means that the ConfigMap was not read yet, which is temporary.
var ErrUnread = errors.New("not read yet")

// ReadOnlyError means that this process must not write.
type ReadOnlyError struct {
	// Noun names the entries of the document.
	Noun string
}

func (e ReadOnlyError) Error() string {
	return e.Noun + " cannot be changed: the server runs with --dry-run and writes nothing"
}

// MissingError means that the ConfigMap to write to does not exist.
type MissingError struct {
	Source follow.ConfigMap
	Noun   string
	// InForce is the number of entries that remain in effect anyway.
	InForce int
}

func (e *MissingError) Error() string {
	if e.InForce > 0 {
		return fmt.Sprintf("%s, which stores the %s, does not exist; the %d last known remain in effect until it exists again or this replica restarts: apply a copy of it (your manifests, or \"helm upgrade\", create it empty)",
			e.Source, e.Noun, e.InForce)
	}
	return fmt.Sprintf("%s, which stores the %s, does not exist: apply your manifests or run \"helm upgrade\" again, which creates it", e.Source, e.Noun)
}

// ContentError means that the ConfigMap's content is invalid.
type ContentError struct {
	Source follow.ConfigMap
	Noun   string
	Err    error
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("%s: %v: correct the content, or remove the key to delete all %s", e.Source, e.Err, e.Noun)
}

// Unwrap returns the error in the content.
func (e *ContentError) Unwrap() error { return e.Err }

// RefusedError means that the API server rejected a read or a write of the ConfigMap,
// and would reject it again.
type RefusedError struct {
	Source follow.ConfigMap
	Err    error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the API server refuses to change %s: %v: check that the server has the permissions of deploy/base and that no policy forbids the change", e.Source, e.Err)
}

// Unwrap returns the API server's error.
func (e *RefusedError) Unwrap() error { return e.Err }

// Failed returns the error of an attempt to read or write a ConfigMap: a *RefusedError if the
// API server would reject the request again, and a plain error if the failure may be
// temporary.
func Failed(source follow.ConfigMap, attempt string, err error) error {
	if apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) {
		return &RefusedError{source, err}
	}
	return fmt.Errorf("%s %s: %w", attempt, source, err)
}
