package hold

import "strings"

// FieldError is one thing that is wrong with a hold.
type FieldError struct {
	// Field is named as in the ConfigMap.
	Field, Problem string
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Problem }

// faults is everything that is wrong with a hold or with a text.
type faults []error

// Error lists the faults in one line.
func (f faults) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// err is nil if there are none.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
