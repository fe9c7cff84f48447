package settings

import (
	"fmt"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// number returns a key for a number from least to most.
func number[T int | float64](name string, least, most T, of func(*Settings) *T, meaning string) key[Settings] {
	s := Defaults()
	return key[Settings]{name, meaning, fmt.Sprintf("%v to %v", least, most), fmt.Sprint(*of(&s)), func(v reader.Value, into *Settings) {
		readNumber(v, least, most, of(into))
	}}
}

func readNumber[T int | float64](v reader.Value, least, most T, into *T) {
	kind := "number"
	if _, whole := any(least).(int); whole {
		kind = "whole number"
	}
	valid := func(f float64) bool { n := T(f); return float64(n) == f && n >= least && n <= most }
	if f, ok := v.ValidNumber(fmt.Sprintf("must be a %s from %v to %v", kind, least, most), valid); ok {
		*into = T(f)
	}
}

// span returns a key for a duration from least to most.
func span[T any](name string, least, most, standard time.Duration, of func(*T) *time.Duration, meaning string) key[T] {
	values := durationText(least) + " to " + durationText(most)
	return key[T]{name, meaning, values, durationText(standard), func(v reader.Value, into *T) {
		text, _ := v.Text()
		d, err := time.ParseDuration(text)
		if err != nil || d < least || d > most {
			v.Fault("must be a duration from %s, such as \"90m\" or \"36h\", not %s", values, v)
			return
		}
		*of(into) = d
	}}
}

// text returns a key for a string in which wrong finds no problem.
func text[T any](name, values string, wrong func(string) []string, of func(*T) *string, meaning string) key[T] {
	return key[T]{name, meaning, values, "", func(v reader.Value, into *T) {
		text, ok := v.Text()
		if !ok || text == "" {
			v.Fault("must be %s, not %s", values, v)
			return
		}
		if problems := wrong(text); len(problems) > 0 {
			v.Fault("must be %s, not %s: %s", values, v, strings.Join(problems, ", "))
			return
		}
		*of(into) = text
	}}
}

// durationText formats a duration without trailing zero units: 2160h, not 2160h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
