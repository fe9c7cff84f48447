package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// UnreadableError means that a ConfigMap cannot be read.
type UnreadableError struct {
	Namespace, Name string
	Err             error
}

func (e *UnreadableError) Error() string {
	do := "replace it with a backup, or delete it"
	if errors.As(e.Err, new(laterError)) {
		do = "run that version again, or delete it"
	}
	return fmt.Sprintf("ConfigMap %s/%s, which stores the history of usage of some workloads, cannot be read: %v: it is not used and stays unchanged, and their history begins again: %s",
		e.Namespace, e.Name, e.Err, do)
}

// Unwrap returns what is wrong with it.
func (e *UnreadableError) Unwrap() error { return e.Err }

// several are several errors, in one line.
type several []error

// join returns the errors that are not nil as one; nil if there are none.
func join(errs ...error) error {
	all := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(all) == 0 {
		return nil
	}
	return several(all)
}

func (s several) Error() string {
	texts := make([]string, len(s))
	for i, err := range s {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the errors.
func (s several) Unwrap() []error { return s }
