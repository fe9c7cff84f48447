package hold

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/workload-resizer/workload-resizer/internal/document"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Limits of the text that users write, in bytes.
const (
	maxReason = 512
	// maxAuthor exceeds the longest name of a ServiceAccount.
	maxAuthor = 512
	maxKind   = 63
	// maxCredentialID is also the longest one that a caller can have.
	maxCredentialID = 256
)

// Faults returns everything that is wrong with the names in the scope. It does not require
// the UID of a pod.
func (s Scope) Faults() []*FieldError {
	var errs []*FieldError
	if s.Namespace != "" {
		errs = named(errs, "namespace", s.Namespace, validation.IsDNS1123Label)
	}
	if s.Pod != "" {
		errs = named(errs, "pod", s.Pod, validation.IsDNS1123Subdomain)
	}
	if s.Pod != "" && s.Namespace == "" {
		errs = append(errs, &FieldError{"namespace", "must be set for a pod"})
	}
	if s.Workload != (workload.Workload{}) {
		errs = append(errs, s.workloadFaults()...)
	}
	return errs
}

func (s Scope) workloadFaults() []*FieldError {
	var errs []*FieldError
	if !isKind(s.Workload.Kind) {
		errs = append(errs, &FieldError{"workload.kind", fmt.Sprintf("%q is not a kind: use a kind such as Deployment", s.Workload.Kind)})
	}
	errs = named(errs, "workload.name", s.Workload.Name, validation.IsDNS1123Subdomain)
	if s.Namespace == "" {
		errs = append(errs, &FieldError{"namespace", "must be set for a workload"})
	}
	if s.Pod != "" {
		errs = append(errs, &FieldError{"workload", "must not be set with a pod"})
	}
	return errs
}

// isKind reports whether a string can be the kind of an object.
func isKind(kind string) bool {
	if kind == "" || len(kind) > maxKind || kind[0] < 'A' || kind[0] > 'Z' {
		return false
	}
	return !strings.ContainsFunc(kind, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
}

// Faults returns everything that is wrong with the hold.
func (h Hold) Faults() []*FieldError {
	var errs []*FieldError
	add := func(field, format string, args ...any) {
		errs = append(errs, &FieldError{field, fmt.Sprintf(format, args...)})
	}
	if !slices.Contains(kinds[:], h.Kind) {
		add("kind", "must be %s, %s or %s, not %q", Restore, Pause, Breaker, h.Kind)
	}
	errs = append(errs, h.Scope.Faults()...)
	switch s := h.Scope; {
	case s.Pod != "" && s.Namespace != "" && s.UID == "":
		add("uid", "must be set for a pod")
	case s.Pod == "" && s.UID != "":
		add("pod", "must be set with a uid")
	}
	errs = line(errs, "uid", string(h.Scope.UID), maxAuthor)
	errs = append(errs, h.breakerFaults()...)
	if h.Emergency && h.Kind != Restore {
		add("emergency", "must be set only for a %s", Restore)
	}
	errs = append(errs, TextFaults(h.Reason, h.Author)...)
	errs = line(errs, "credentialID", h.CredentialID, maxCredentialID)
	if !h.Expires.IsZero() && h.Expires.Before(h.Since) {
		add("expires", "is before the start of the hold")
	}
	return errs
}

// Faults returns everything that is wrong with the texts of the freeze.
func (f Freeze) Faults() []*FieldError {
	return line(TextFaults(f.Reason, f.Author), "credentialID", f.CredentialID, maxCredentialID)
}

// TextFaults returns everything that is wrong with a reason and an author. Each must be one
// line of up to 512 bytes.
func TextFaults(reason, author string) []*FieldError {
	return line(line(nil, "reason", reason, maxReason), "author", author, maxAuthor)
}

func line(errs []*FieldError, field, text string, most int) []*FieldError {
	for _, problem := range document.LineProblems(text, most) {
		errs = append(errs, &FieldError{field, problem})
	}
	return errs
}

func named(errs []*FieldError, field, name string, wrong func(string) []string) []*FieldError {
	if problems := wrong(name); len(problems) > 0 {
		errs = append(errs, &FieldError{field, fmt.Sprintf("%q is not a valid name of a %s: %s", name, strings.TrimSuffix(field, ".name"), strings.Join(problems, ", "))})
	}
	return errs
}
