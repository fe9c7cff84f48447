package document

import "strings"

// Faults lists everything that is wrong with a document.
type Faults []error

// Error lists the faults in one line.
func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, err := range f {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Err returns the faults as an error; nil if there are none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}
