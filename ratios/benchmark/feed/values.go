package feed

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// number returns a number above 0, which may have thousands separators, as in "131,477".
func (r record) number(name string) (float64, *Fault) {
	text := strings.TrimSpace(r(name))
	if text == "" {
		return 0, &Fault{Field: name, Reason: "must be set"}
	}
	value, err := strconv.ParseFloat(withoutThousands(text), 64)
	if positive := value > 0; err != nil || !positive { // NaN is not positive.
		return 0, &Fault{Field: name, Reason: "must be a number above 0, not " + quoted(text)}
	}
	if err := sample.CheckScore(value); err != nil {
		return 0, &Fault{Field: name, Reason: err.Error()}
	}
	return value, nil
}

// count returns a whole number above 0, or 0 if there is no value.
func (r record) count(name string) (int, *Fault) {
	text := strings.TrimSpace(r(name))
	if text == "" {
		return 0, nil
	}
	value, err := strconv.ParseFloat(withoutThousands(text), 64)
	if err != nil || value < 1 || value > math.MaxInt32 || value != math.Trunc(value) {
		return 0, &Fault{Field: name, Reason: "must be a whole number above 0, not " + quoted(text)}
	}
	return int(value), nil
}

// thousands matches a number with thousands separators.
var thousands = regexp.MustCompile(`^\d{1,3}(,\d{3})+(\.\d+)?$`)

func withoutThousands(text string) string {
	if strings.Contains(text, ",") && thousands.MatchString(text) {
		return strings.ReplaceAll(text, ",", "")
	}
	return text
}

var (
	// twoMeanings matches a number with a comma or a point that may separate thousands or decimals.
	twoMeanings = regexp.MustCompile(`^([1-9]\d{0,2})[.,](\d{3})$`)
	// decimalComma matches a number such as 0,5 or 1,5E+06.
	decimalComma = regexp.MustCompile(`^\d+,\d+([eE][+-]?\d+)?$`)
	// pointedThousands matches a number such as 1.234,5 or 1.234.567.
	pointedThousands = regexp.MustCompile(`^[1-9]\d{0,2}(\.\d{3})+(,\d+)?$`)
)

// pointed returns a number with a decimal point. Other text, and numbers with two meanings, are
// unchanged.
func pointed(text string) string {
	switch {
	case twoMeanings.MatchString(text):
		return text
	case pointedThousands.MatchString(text):
		text = strings.ReplaceAll(text, ".", "")
	case !decimalComma.MatchString(text):
		return text
	}
	return strings.Replace(text, ",", ".", 1)
}

// pointed returns a record whose numbers have decimal points. Programs that separate columns with
// semicolons or tabs may write numbers as in other languages than English, so that 177,656 has two
// meanings.
func (r record) pointed(numbers []string) (record, *Fault) {
	values := map[string]string{}
	for _, name := range numbers {
		text := r(name)
		if m := twoMeanings.FindStringSubmatch(text); m != nil {
			return nil, &Fault{Field: name, Reason: fmt.Sprintf("%s means %s%s or %s.%s: write %s%s or %s.%s0",
				quoted(text), m[1], m[2], m[1], m[2], m[1], m[2], m[1], m[2])}
		}
		values[name] = pointed(text)
	}
	return func(name string) string {
		if text, ok := values[name]; ok {
			return text
		}
		return r(name)
	}, nil
}

// moments are the supported formats of times, with or without a fraction of a second. Times
// without a zone are UTC.
var moments = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05Z07:00", time.DateOnly}

// moment returns a time, or otherwise if there is no value.
func (r record) moment(name string, otherwise time.Time) (time.Time, *Fault) {
	text := strings.TrimSpace(r(name))
	if text == "" {
		return otherwise, nil
	}
	for _, layout := range moments {
		if t, err := time.Parse(layout, text); err == nil && storable(t) {
			return t.UTC(), nil
		}
	}
	return time.Time{}, &Fault{Field: name, Reason: "must be a time such as 2026-01-02T15:04:05, not " + quoted(text)}
}

// epoch returns a time in seconds since 1970, or otherwise if there is no value.
func (r record) epoch(name string, otherwise time.Time) (time.Time, *Fault) {
	text := strings.TrimSpace(r(name))
	if text == "" {
		return otherwise, nil
	}
	value, err := strconv.ParseFloat(text, 64)
	seconds, fraction := math.Modf(value)
	t := time.Unix(int64(seconds), int64(fraction*1e9)).UTC().Truncate(time.Microsecond)
	if err != nil || value < 0 || value > 1e12 || !storable(t) {
		return time.Time{}, &Fault{Field: name, Reason: "must be seconds since 1970, not " + quoted(text)}
	}
	return t, nil
}

// storable reports whether a time can be represented in RFC 3339.
func storable(t time.Time) bool { return t.Year() >= 1 && t.Year() <= 9999 && !t.IsZero() }

// quotedAll returns texts in quotes, separated by commas.
func quotedAll(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = strconv.Quote(text)
	}
	return strings.Join(all, ", ")
}

// quoted returns the text in quotes, truncated if it is long.
func quoted(text string) string {
	const most = 64
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(text[:most], ""))
}
