package hold

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Bounds of what a person can write, in bytes.
const (
	maxReason = 512
	maxAuthor = 128
)

// Faults returns everything that is wrong with the names of the scope. It does
// not ask for the UID of a pod.
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
	return errs
}

// Faults returns everything that is wrong with the hold.
func (h Hold) Faults() []*FieldError {
	var errs []*FieldError
	add := func(field, format string, args ...any) {
		errs = append(errs, &FieldError{field, fmt.Sprintf(format, args...)})
	}
	if h.Kind != Restore && h.Kind != Pause {
		add("kind", "must be %s or %s, not %q", Restore, Pause, h.Kind)
	}
	errs = append(errs, h.Scope.Faults()...)
	switch s := h.Scope; {
	case s.Pod != "" && s.Namespace != "" && s.UID == "":
		add("uid", "must be set for a pod")
	case s.Pod == "" && s.UID != "":
		add("pod", "must be set with a uid")
	}
	for _, text := range []struct {
		field, value string
		most         int
	}{{"uid", string(h.Scope.UID), maxAuthor}, {"reason", h.Reason, maxReason}, {"author", h.Author, maxAuthor}} {
		if len(text.value) > text.most {
			add(text.field, "is %d bytes long, may be %d", len(text.value), text.most)
		}
		if !utf8.ValidString(text.value) || strings.ContainsFunc(text.value, unprintable) {
			add(text.field, "must be one line of text without control characters")
		}
	}
	if !h.Expires.IsZero() && h.Expires.Before(h.Since) {
		add("expires", "is before it began")
	}
	return errs
}

// unprintable tells the characters that end a line or steer a terminal.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

func named(errs []*FieldError, field, name string, wrong func(string) []string) []*FieldError {
	if problems := wrong(name); len(problems) > 0 {
		errs = append(errs, &FieldError{field, fmt.Sprintf("%q is no name of a %s: %s", name, field, strings.Join(problems, ", "))})
	}
	return errs
}
