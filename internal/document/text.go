package document

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// LineProblems returns the problems with text that a person wrote. The text must be one
// line of at most the given number of bytes, without characters that control a terminal
// or that YAML cannot represent.
func LineProblems(text string, most int) []string {
	var problems []string
	if len(text) > most {
		problems = append(problems, fmt.Sprintf("is %d bytes long, the maximum is %d", len(text), most))
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable) {
		problems = append(problems, "must be one line of text without control characters")
	}
	if i := strings.IndexFunc(text, isNoncharacter); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		problems = append(problems, fmt.Sprintf("contains %U, which is not a character", r))
	}
	return problems
}

// unprintable reports whether a character ends a line or controls a terminal.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// isNoncharacter reports whether a code point is a Unicode noncharacter. YAML cannot
// represent noncharacters of the basic plane: a document with one could not be read again.
func isNoncharacter(r rune) bool { return r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF }

// TimeText formats a time in whole seconds; the zero time is empty.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// ParseTime parses a time that may have been written by hand, truncated to seconds;
// empty text is the zero time.
func ParseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("must be a time such as %q, not %q", "2026-11-21T01:02:03Z", text)
	}
	return t.UTC().Truncate(time.Second), nil
}
