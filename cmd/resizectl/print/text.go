package print

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"

	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/apimachinery/pkg/util/duration"
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
// cannot control the terminal, and drops format characters, which make text look different from
// what it is, such as those that reverse it. Line breaks stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Cf, r):
			return -1
		case r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp)):
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

// Each returns what text returns for each part of a list.
func Each[T any](list []T, text func(T) string) []string {
	var texts []string
	for _, part := range list {
		texts = append(texts, text(part))
	}
	return texts
}

// CountOf returns e.g. "1 pod" or "2 pods".
func CountOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Duration returns a time in one unit, such as "3 days".
func Duration(d time.Duration) string {
	switch hours := int64(d.Round(time.Hour).Hours()); {
	case d >= 48*time.Hour:
		return CountOf((hours+12)/24, "day")
	case d >= 2*time.Hour:
		return CountOf(hours, "hour")
	}
	return CountOf(int64(d.Round(time.Minute).Minutes()), "minute")
}

// AreOf returns "1 pod is" or e.g. "2 pods are".
func AreOf(n int64, what string) string {
	if n == 1 {
		return "1 " + what + " is"
	}
	return CountOf(n, what) + " are"
}

// First returns the first of some names, and how many more there are, e.g. "a, b and 2 more".
func First(names []string, most int) string {
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}

// Lines prints single values as "name: text". All texts begin in the same column, after width
// characters.
func Lines(w io.Writer, width int, lines [][2]string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "%-*s%s\n", width, line[0]+":", line[1]); err != nil {
			return err
		}
	}
	return nil
}

// Texts prints a line for each text that is not empty.
func Texts(w io.Writer, texts ...string) error {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// Hidden says that an answer is incomplete, because it leaves out what is in namespaces that the caller
// may not see; empty if it is not. which is what it leaves out, e.g. "pods".
func Hidden(incomplete bool, which string) string {
	if !incomplete {
		return ""
	}
	return fmt.Sprintf("warning: %s in namespaces that you cannot see are left out: you do not have the right to get pods in all namespaces", which)
}

// Age returns how long ago something was, as kubectl prints it, e.g. "20d".
func (o *Output) Age(t *timestamppb.Timestamp) string {
	if t == nil {
		return Absent
	}
	return duration.HumanDuration(max(0, o.Now().Sub(t.AsTime())))
}
