package hold

import "github.com/workload-resizer/workload-resizer/internal/document"

// FieldError is one thing that is wrong with a hold.
type FieldError struct {
	// Field is the name of the field in the ConfigMap.
	Field, Problem string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// faults lists everything that is wrong with a hold, or with its reason or author.
type faults = document.Faults
