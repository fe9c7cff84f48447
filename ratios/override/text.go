package override

import "github.com/workload-resizer/workload-resizer/internal/document"

// maxSaidAuthor is the maximum length, in bytes, of an author that a caller states.
const maxSaidAuthor = 128

// TextFaults returns everything that is wrong with the reason and the author that a caller
// states for a change. Each must be one line, of up to 512 and 128 bytes.
func TextFaults(reason, author string) []*FieldError {
	return saidFaults(reason, maxReason, author, maxSaidAuthor)
}

func saidFaults(reason string, mostReason int, author string, mostAuthor int) []*FieldError {
	var errs []*FieldError
	for _, problem := range document.LineProblems(reason, mostReason) {
		errs = append(errs, &FieldError{Field: "reason", Problem: problem})
	}
	for _, problem := range document.LineProblems(author, mostAuthor) {
		errs = append(errs, &FieldError{Field: "author", Problem: problem})
	}
	return errs
}
