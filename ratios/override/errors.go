package override

import (
	"fmt"

	"github.com/workload-resizer/workload-resizer/internal/document"
)

// noun is the word for the stored items in messages.
const noun = "overrides"

// maxOverrides, maxBytes, maxChanges and maxHistoryBytes limit what is stored. The
// API server accepts ConfigMaps of up to 1 MiB.
const (
	maxOverrides    = 1000
	maxBytes        = 500_000
	maxChanges      = 1000
	maxHistoryBytes = 400 << 10
)

// ErrReadOnly means that this process must not write.
var ErrReadOnly error = document.ReadOnlyError{Noun: noun}

// FullError means that no more overrides can be stored.
type FullError struct{ Overrides, Bytes int }

func (e *FullError) Error() string {
	return fmt.Sprintf("%d overrides with %d bytes exceed the limit of %d overrides or %d bytes: move permanent overrides to the configuration, and delete them here",
		e.Overrides, e.Bytes, maxOverrides, maxBytes)
}

// EtagError means that an override has changed since the caller read it.
type EtagError struct {
	NodeType string
	// Etag identifies the current state.
	Etag string
}

func (e *EtagError) Error() string {
	return fmt.Sprintf("the override of node type %q has changed since its etag was read: read it again before you change it", e.NodeType)
}

// NewerChangeError means that the history has a change that the caller has not seen.
type NewerChangeError struct{ Newest int64 }

func (e *NewerChangeError) Error() string {
	return fmt.Sprintf("the newest change is %d: read the changes again before you roll back", e.Newest)
}

// NotKeptError means that the state of the overrides after a change is not known.
type NotKeptError struct {
	Number int64
	// Oldest and Newest are the range of changes that can be rolled back to.
	Oldest, Newest int64
}

func (e *NotKeptError) Error() string {
	if e.Number > e.Newest {
		return fmt.Sprintf("change %d does not exist, the newest is %d", e.Number, e.Newest)
	}
	return fmt.Sprintf("change %d is too old: only changes since %d can be undone", e.Number, e.Oldest+1)
}

// UnknownError means that no source has a ratio for a node type.
type UnknownError struct{ NodeType string }

func (e *UnknownError) Error() string { return fmt.Sprintf("node type %q has no ratio", e.NodeType) }

// NoOverrideError means that no override exists to delete.
type NoOverrideError struct{ NodeType string }

func (e *NoOverrideError) Error() string {
	return fmt.Sprintf("node type %q has no override", e.NodeType)
}

// FieldError describes an invalid field of the override of a node type.
type FieldError struct {
	NodeType string
	// Field has the name that it has in the ConfigMap.
	Field, Problem string
}

func (e *FieldError) Error() string { return e.NodeType + "." + e.Field + ": " + e.Problem }
