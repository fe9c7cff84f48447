package config

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/reader"
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

// syntax returns the problems with text; none if the text is valid.
type syntax func(string) []string

// The syntax of labels and annotations, as the API server defines it.
var (
	labelKey        syntax = content.IsLabelKey
	labelValue      syntax = content.IsLabelValue
	annotationKey   syntax = func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }
	annotationValue syntax = func(string) []string { return nil }
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
