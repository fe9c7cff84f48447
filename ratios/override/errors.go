package override

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// noun is what messages call what is stored.
const noun = "overrides"

// maxOverrides, maxBytes, maxChanges and maxHistoryBytes bound what is stored. The
// API server takes a ConfigMap of 1 MiB.
const (
	maxOverrides    = 1000
	maxBytes        = 500_000
	maxChanges      = 1000
	maxHistoryBytes = 400 << 10
)

// ErrReadOnly tells that this process must not write.
var ErrReadOnly error = document.ReadOnlyError{Noun: noun}

// FullError tells that no more overrides can be stored.
type FullError struct{ Overrides, Bytes int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d overrides of %d bytes are more than the %d overrides or %d bytes that can be kept: write those that stay into the configuration, and delete them here",
		e.Overrides, e.Bytes, maxOverrides, maxBytes)
}

// EtagError tells that an override is not as the caller has read it.
type EtagError struct {
	NodeType string
	// Etag is that of the present state.
	Etag string
}

func (e *EtagError) Error() string {
	return fmt.Sprintf("the override of node type %q was changed since its etag was read: read it again and decide anew", e.NodeType)
}

// NewerChangeError tells that there is a change that the caller does not know.
type NewerChangeError struct{ Newest int64 }

func (e *NewerChangeError) Error() string {
	return fmt.Sprintf("the newest change is %d: read the changes again and decide anew", e.Newest)
}

// NotKeptError tells that it cannot be known how the overrides were after a
// change.
type NotKeptError struct {
	Number int64
	// Oldest and Newest are the changes that can be gone back to.
	Oldest, Newest int64
}

func (e *NotKeptError) Error() string {
	if e.Number > e.Newest {
		return fmt.Sprintf("there was no change %d, the newest is %d", e.Number, e.Newest)
	}
	return fmt.Sprintf("change %d was too long ago: changes since %d can be undone", e.Number, e.Oldest+1)
}

// UnknownError tells that nobody says anything of a node type.
type UnknownError struct{ NodeType string }

func (e *UnknownError) Error() string { return fmt.Sprintf("node type %q has no ratio", e.NodeType) }

// NoOverrideError tells that there is nothing to delete.
type NoOverrideError struct{ NodeType string }

func (e *NoOverrideError) Error() string {
	return fmt.Sprintf("node type %q has no override", e.NodeType)
}

// FieldError is what is wrong with the override of a node type.
type FieldError struct {
	NodeType string
	// Field is named as in the ConfigMap.
	Field, Problem string
}

func (e *FieldError) Error() string { return e.NodeType + "." + e.Field + ": " + e.Problem }
