package config

import (
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
			v.Fault("want a text, got %s", v)
			return
		}
		*into = text
	}
}

// perf reads a performance: a finite number above 0.
func perf(into *float64) func(reader.Value) {
	return func(v reader.Value) {
		f, ok := v.Number()
		if !ok || !ratios.ValidPerf(f) {
			v.Fault("want a finite number above 0, got %s", v)
			return
		}
		*into = f
	}
}

// syntax tells what is wrong with a text; nothing if it is right.
type syntax func(string) []string

// What labels and annotations can be, as the API server has it.
var (
	labelKey        syntax = content.IsLabelKey
	labelValue      syntax = content.IsLabelValue
	annotationKey   syntax = func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }
	annotationValue syntax = func(string) []string { return nil }
)

// key adds a fault if the text is empty, which would be no criterion, or cannot be what
// it is checked for.
func (wrong syntax) key(v reader.Value, text string) {
	if text == "" {
		v.Fault("must not be empty")
		return
	}
	wrong.value(v, text)
}

// value adds a fault if the text, which may be empty, cannot be what it is checked for.
func (wrong syntax) value(v reader.Value, text string) {
	if problems := wrong(text); len(problems) > 0 {
		v.Fault("no pod can have it: %s", strings.Join(problems, ", "))
	}
}
