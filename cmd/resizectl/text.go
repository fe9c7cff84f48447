package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// absent stands in a cell where there is nothing to show.
const absent = "-"

func orAbsent(s string) string {
	if s == "" {
		return absent
	}
	return s
}

// printable takes control characters out of what others wrote, so that it
// cannot steer the terminal. Line breaks stay.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// oneLine is printable text without line breaks, for a cell or a line.
func oneLine(s string) string { return strings.ReplaceAll(printable(s), "\n", " ") }

// perf is a performance as its source wrote it.
func perf(f float64) string { return fmt.Sprint(f) }

// factor is rounded to four significant digits, enough to check a size by hand.
// 0 is not known.
func factor(f float64) string {
	if f == 0 {
		return absent
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

// timestamp is a time in UTC to the second.
func timestamp(t *timestamppb.Timestamp) string {
	if t == nil {
		return absent
	}
	return t.AsTime().Format(time.RFC3339)
}

// countOf is "1 pod" or "2 pods".
func countOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
