package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/ratios"
)

// text reads a string that is not empty.
func text(into *string) func(reader.Value) {
	return func(v reader.Value) {
		text, ok := v.Text()
		if !ok || text == "" {
			v.Fault("must be a non-empty string, not %s", v)
			return
		}
		*into = text
	}
}

// perf reads a performance: a finite number above 0.
func perf(into *float64) func(reader.Value) {
	return number(into, "must be a finite number above 0", ratios.ValidPerf)
}

// speedRatio reads a maximum speed ratio: a finite number that is at least 1.
func speedRatio(into *float64) func(reader.Value) {
	return number(into, fmt.Sprintf("must be a finite number of at least 1, such as %d", ratios.DefaultMaxSpeedRatio), ratios.ValidMaxSpeedRatio)
}

// number reads a valid number.
func number(into *float64, must string, valid func(float64) bool) func(reader.Value) {
	return func(v reader.Value) {
		if f, ok := v.ValidNumber(must, valid); ok {
			*into = f
		}
	}
}

// oneOf reads one of a few names.
func oneOf(into *string, names []string) func(reader.Value) {
	return func(v reader.Value) {
		text, _ := v.Text()
		if !slices.Contains(names, text) {
			v.Fault("must be one of %s, not %s", strings.Join(names, ", "), v)
			return
		}
		*into = text
	}
}

// optional reads a valid number, and keeps that it is set.
func optional(into **float64, must string, valid func(float64) bool) func(reader.Value) {
	return func(v reader.Value) {
		if f, ok := v.ValidNumber(must, valid); ok {
			*into = &f
		}
	}
}

// count reads a whole number from 1.
func count(into **int, most, example int) func(reader.Value) {
	return func(v reader.Value) {
		whole := func(f float64) bool { return f >= 1 && f <= float64(most) && f == math.Trunc(f) }
		if f, ok := v.ValidNumber(fmt.Sprintf("must be a whole number from 1 to %d, such as %d", most, example), whole); ok {
			n := int(f)
			*into = &n
		}
	}
}

// share reads a number up to 1, or a percentage up to 100%.
func share(into **float64) func(reader.Value) {
	return percentage(into, "must be a number above 0 and at most 1, such as 0.1 or 10%", func(f float64) bool { return f > 0 && f <= 1 })
}

// percentage reads a valid number, which may be a percentage.
func percentage(into **float64, must string, valid func(float64) bool) func(reader.Value) {
	return func(v reader.Value) {
		text, _ := v.Text()
		number, isPercentage := strings.CutSuffix(text, "%")
		percent, err := strconv.ParseFloat(number, 64)
		switch f := percent / 100; {
		case !isPercentage:
			optional(into, must, valid)(v)
		case err != nil || !valid(f):
			v.Fault("%s, not %s", must, v)
		default:
			*into = &f
		}
	}
}

// flag reads true or false.
func flag(into **bool) func(reader.Value) {
	return func(v reader.Value) {
		text, _ := v.Text()
		if text != "true" && text != "false" {
			v.Fault("must be true or false, not %s", v)
			return
		}
		set := text == "true"
		*into = &set
	}
}

// duration reads a duration within bounds, such as 90s, 24h or 8d.
func duration(into **time.Duration, least, most time.Duration) func(reader.Value) {
	return func(v reader.Value) {
		text, _ := v.Text()
		d, err := parseDuration(text)
		if err != nil || d < least || d > most {
			example := "24h or 8d"
			if most <= day {
				example = "90s or 5m"
			}
			v.Fault("must be a duration from %s to %s, such as %s, not %s", describe(least), describe(most), example, v)
			return
		}
		*into = &d
	}
}

const day = 24 * time.Hour

// parseDuration is time.ParseDuration, which also knows days, such as 8d.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * day, err
	}
	return time.ParseDuration(text)
}

// describe returns a duration as a user writes it.
func describe(d time.Duration) string {
	switch {
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// syntax returns the problems with text; none if the text is valid.
type syntax func(string) []string

// The syntax of labels and annotations, as the API server defines it.
var (
	labelKey        syntax = content.IsLabelKey
	labelValue      syntax = content.IsLabelValue
	annotationKey   syntax = func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }
	annotationValue syntax = func(string) []string { return nil }
	namespace       syntax = content.IsDNS1123Label
)

// key adds a fault if the text does not match the syntax, or is empty: an empty key
// cannot be a criterion.
func (wrong syntax) key(v reader.Value, text string) {
	if text == "" {
		v.Fault("must not be empty")
		return
	}
	wrong.value(v, text)
}

// value adds a fault if the text, which may be empty, does not match the syntax.
func (wrong syntax) value(v reader.Value, text string) {
	if problems := wrong(text); len(problems) > 0 {
		v.Fault("not valid on a pod: %s", strings.Join(problems, ", "))
	}
}
