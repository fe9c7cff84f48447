package document

import (
	"errors"
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/follow"
)

// ErrUnread tells that the ConfigMap is not known yet, which soon passes.
var ErrUnread = errors.New("not read yet")

// ReadOnlyError tells that this process must not write.
type ReadOnlyError struct {
	// Noun names what the document lists.
	Noun string
}

func (e ReadOnlyError) Error() string {
	return e.Noun + " cannot be changed: the server runs with --dry-run and writes nothing"
}

// MissingError tells that the ConfigMap to write to is not there.
type MissingError struct {
	Source follow.ConfigMap
	Noun   string
	// InForce counts what stays in force all the same.
	InForce int
}

func (e *MissingError) Error() string {
	if e.InForce > 0 {
		return fmt.Sprintf("%s, which keeps the %s, does not exist; the %d last known stay in force here until it is there again or the server starts anew: apply it with these, or deploy/base, which has it without any",
			e.Source, e.Noun, e.InForce)
	}
	return fmt.Sprintf("%s, which keeps the %s, does not exist: apply deploy/base, which has it", e.Source, e.Noun)
}

// ContentError tells that the ConfigMap's content cannot be read.
type ContentError struct {
	Source follow.ConfigMap
	Noun   string
	Err    error
}

func (e *ContentError) Error() string {
	return fmt.Sprintf("%s: %v: correct that, or remove the key to end all %s", e.Source, e.Err, e.Noun)
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
