package print

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Absent is the text of a cell with nothing to show.
const Absent = "-"

// OrAbsent returns text, or Absent if it is empty.
func OrAbsent(s string) string {
	if s == "" {
		return Absent
	}
	return s
}

// Printable replaces control characters in text from elsewhere with spaces, so that the text
// cannot control the terminal. Line breaks stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// OneLine returns printable text without line breaks, for a cell or a line.
func OneLine(s string) string { return strings.ReplaceAll(Printable(s), "\n", " ") }

// Perf returns a performance as its source wrote it.
func Perf(f float64) string { return fmt.Sprint(f) }

// Factor returns a factor with four significant digits, enough to check a size by hand. 0 is
// an unknown factor.
func Factor(f float64) string {
	if f == 0 {
		return Absent
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Timestamp returns a time in UTC, with seconds.
func Timestamp(t *timestamppb.Timestamp) string {
	if t == nil {
		return Absent
	}
	return t.AsTime().Format(time.RFC3339)
}

// CountOf returns e.g. "1 pod" or "2 pods".
func CountOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
