package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// number is a key for a number from least to most.
func number(name string, least, most float64, of func(*Settings) *float64, meaning string) key[Settings] {
	s := Defaults()
	values := floatText(least) + " to " + floatText(most)
	return key[Settings]{name, meaning, values, floatText(*of(&s)), func(r *reader, path string, value any, into *Settings) {
		v, ok := asNumber(value)
		if !ok || v < least || v > most {
			r.add(path, "want a number from %s, got %s", values, describe(value))
			return
		}
		*of(into) = v
	}}
}

// whole is a key for a whole number from least to most.
func whole(name string, least, most int, of func(*Settings) *int, meaning string) key[Settings] {
	s := Defaults()
	values := fmt.Sprintf("%d to %d", least, most)
	return key[Settings]{name, meaning, values, strconv.Itoa(*of(&s)), func(r *reader, path string, value any, into *Settings) {
		v, ok := asWhole(value, least, most)
		if !ok {
			r.add(path, "want a whole number from %s, got %s", values, describe(value))
			return
		}
		*of(into) = v
	}}
}

// span is a key for a duration from least to most.
func span[T any](name string, least, most, standard time.Duration, of func(*T) *time.Duration, meaning string) key[T] {
	values := durationText(least) + " to " + durationText(most)
	return key[T]{name, meaning, values, durationText(standard), func(r *reader, path string, value any, into *T) {
		text, _ := value.(string)
		v, err := time.ParseDuration(text)
		if err != nil || v < least || v > most {
			r.add(path, "want a duration from %s, such as \"90m\" or \"36h\", got %s", values, describe(value))
			return
		}
		*of(into) = v
	}}
}

// text is a key for a text that a check has nothing against.
func text[T any](name, values string, wrong func(string) []string, of func(*T) *string, meaning string) key[T] {
	return key[T]{name, meaning, values, "", func(r *reader, path string, value any, into *T) {
		v, ok := value.(string)
		if !ok || v == "" {
			r.add(path, "want %s, got %s", values, describe(value))
			return
		}
		if problems := wrong(v); len(problems) > 0 {
			r.add(path, "want %s, got %s: %s", values, describe(value), strings.Join(problems, ", "))
			return
		}
		*of(into) = v
	}}
}

func asNumber(value any) (float64, bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v)
	}
	return 0, false
}

func asWhole(value any, least, most int) (int, bool) {
	v, ok := asNumber(value)
	if !ok || v != math.Trunc(v) || v < float64(least) || v > float64(most) {
		return 0, false
	}
	return int(v), true
}

func floatText(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// durationText is without the zeros at the end of 2160h0m0s.
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
