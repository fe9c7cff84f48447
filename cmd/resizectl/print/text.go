package print

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Absent stands in a cell where there is nothing to show.
const Absent = "-"

// OrAbsent is a text, or that there is none.
func OrAbsent(s string) string {
	if s == "" {
		return Absent
	}
	return s
}

// Printable takes control characters out of what others wrote, so that it
// cannot steer the terminal. Line breaks stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// OneLine is printable text without line breaks, for a cell or a line.
func OneLine(s string) string { return strings.ReplaceAll(Printable(s), "\n", " ") }

// Perf is a performance as its source wrote it.
func Perf(f float64) string { return fmt.Sprint(f) }

// Factor is rounded to four significant digits, enough to check a size by hand.
// 0 is not known.
func Factor(f float64) string {
	if f == 0 {
		return Absent
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// Timestamp is a time in UTC to the second.
func Timestamp(t *timestamppb.Timestamp) string {
	if t == nil {
		return Absent
	}
	return t.AsTime().Format(time.RFC3339)
}

// CountOf is "1 pod" or "2 pods".
func CountOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
