package document

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// LineProblems returns what is wrong with a text that a person wrote: it must be
// one line of at most so many bytes, not steer a terminal, and be what YAML holds.
func LineProblems(text string, most int) []string {
	var problems []string
	if len(text) > most {
		problems = append(problems, fmt.Sprintf("is %d bytes long, may be %d", len(text), most))
	}
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unprintable) {
		problems = append(problems, "must be one line of text without control characters")
	}
	if i := strings.IndexFunc(text, isNoncharacter); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		problems = append(problems, fmt.Sprintf("has %U, which is no character", r))
	}
	return problems
}

// unprintable tells the characters that end a line or steer a terminal.
func unprintable(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }

// isNoncharacter tells the code points that are never characters. YAML cannot hold
// those of the basic plane, and nobody could read the document again.
func isNoncharacter(r rune) bool { return r&0xFFFE == 0xFFFE || r >= 0xFDD0 && r <= 0xFDEF }

// TimeText writes a time, of which whole seconds are kept; zero is empty.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// ParseTime reads a time that people may have written, to the second; empty is
// zero.
func ParseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("want a time such as %q, got %q", "2026-11-21T01:02:03Z", text)
	}
	return t.UTC().Truncate(time.Second), nil
}
