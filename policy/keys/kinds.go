package keys

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// Text is a string that is not empty.
var Text = Kind[string]{Values: "a string", Read: func(v reader.Value) (string, bool) {
	text, ok := v.Text()
	if !ok || text == "" {
		v.Fault("must be a non-empty string, not %s", v)
		return "", false
	}
	return text, true
}}

// Parsed is text that parse understands. The error says what it must be. describe returns it as users write it.
func Parsed[V any](values string, describe func(V) string, parse func(string) (V, error)) Kind[V] {
	return Kind[V]{Values: values, Text: describe, Read: func(v reader.Value) (V, bool) {
		text, _ := v.Text()
		value, err := parse(text)
		if err != nil {
			v.Fault("%v, not %s", err, v)
		}
		return value, err == nil
	}}
}

// OneOf is one of a few names.
func OneOf(names ...string) Kind[string] {
	return Parsed("`"+strings.Join(names, "`, `")+"`", Code, func(text string) (string, error) {
		if !slices.Contains(names, text) {
			return "", errors.New("must be one of " + strings.Join(names, ", "))
		}
		return text, nil
	})
}

// Code returns text as code in the reference.
func Code(text string) string { return "`" + text + "`" }

// Flag is true or false.
var Flag = Parsed("`true`, `false`", strconv.FormatBool, func(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, errors.New("must be true or false")
	}
	return text == "true", nil
})

// Number is a number that is valid. must says what that is, such as "must be above 0".
func Number(values, must string, valid func(float64) bool) Kind[float64] {
	return Kind[float64]{
		Values: values, Text: func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) },
		Read: func(v reader.Value) (float64, bool) { return v.ValidNumber(must, valid) },
	}
}

// Between is a number between two others.
func Between(least, most, example float64) Kind[float64] {
	return Number(fmt.Sprintf("%v to %v", least, most), fmt.Sprintf("must be a number from %v to %v, such as %v", least, most, example), Within(least, most))
}

// Within returns a function that reports whether a number is not less than one and not more than another.
func Within(least, most float64) func(float64) bool {
	return func(f float64) bool { return f >= least && f <= most }
}

// Finite reports whether a number is finite.
func Finite(f float64) bool { return !math.IsInf(f, 0) }

// Count is a whole number from 1.
func Count(most, example int) Kind[int] {
	must := fmt.Sprintf("must be a whole number from 1 to %d, such as %d", most, example)
	return Kind[int]{
		Values: fmt.Sprintf("1 to %d", most), Text: strconv.Itoa,
		Read: func(v reader.Value) (int, bool) {
			f, ok := v.ValidNumber(must, func(f float64) bool { return f >= 1 && f <= float64(most) && f == math.Trunc(f) })
			return int(f), ok
		},
	}
}

// CountOrPercentage is a whole number from 1, or a percentage without fractions, as for the maxUnavailable of Kubernetes.
func CountOrPercentage(most, example int) Kind[intstr.IntOrString] {
	must := fmt.Sprintf("must be a whole number from 1 to %d or a percentage from 1%% to 100%%, such as %d or 10%%", most, example)
	return Kind[intstr.IntOrString]{
		Values: fmt.Sprintf("1 to %d, or 1%% to 100%%", most), Text: func(v intstr.IntOrString) string { return v.String() },
		Read: func(v reader.Value) (intstr.IntOrString, bool) {
			text, _ := v.Text()
			number, isPercentage := strings.CutSuffix(text, "%")
			if !isPercentage {
				f, ok := v.ValidNumber(must, func(f float64) bool { return f >= 1 && f <= float64(most) && f == math.Trunc(f) })
				return intstr.FromInt32(int32(f)), ok
			}
			percent, err := strconv.Atoi(number)
			if err != nil || percent < 1 || percent > 100 {
				v.Fault("%s, not %s", must, v)
				return intstr.IntOrString{}, false
			}
			return intstr.FromString(strconv.Itoa(percent) + "%"), true
		},
	}
}

// Share is a number up to 1, or a percentage up to 100%.
var Share = Percentage("a share", "must be a number above 0 and at most 1, such as 0.1 or 10%", func(f float64) bool { return f > 0 && f <= 1 })

// Percentage is a number that is valid, and that may be written as a percentage.
func Percentage(values, must string, valid func(float64) bool) Kind[float64] {
	return Kind[float64]{
		Values: values, Text: func(f float64) string { return strconv.FormatFloat(math.Round(f*1e6)/1e4, 'g', -1, 64) + "%" },
		Read: func(v reader.Value) (float64, bool) {
			text, _ := v.Text()
			number, isPercentage := strings.CutSuffix(text, "%")
			if !isPercentage {
				return v.ValidNumber(must, valid)
			}
			percent, err := strconv.ParseFloat(number, 64)
			f := percent / 100
			if err != nil || !valid(f) {
				v.Fault("%s, not %s", must, v)
				return 0, false
			}
			return f, true
		},
	}
}

// Optional is a value of a kind that has no default: its field is nil if it is not set.
func Optional[V any](kind Kind[V]) Kind[*V] {
	return Kind[*V]{Values: kind.Values, Read: func(v reader.Value) (*V, bool) {
		value, ok := kind.Read(v)
		return &value, ok
	}}
}

// List is a list with at most so many items, which are called what. An empty list is set, too. read
// reads an item, and has those before it.
func List[S ~[]V, V any](values string, most int, what string, read func(v reader.Value, before S) V) Kind[S] {
	return Kind[S]{Values: values, Read: func(v reader.Value) (S, bool) {
		if v.IsNull() {
			return nil, false
		}
		all := S{}
		v.Items(func(v reader.Value) { all = append(all, read(v, all)) })
		if len(all) > most {
			v.Fault("has %d %s, but must have at most %d", len(all), what, most)
		}
		return all, true
	}}
}
