package config

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/workload-resizer/workload-resizer/ratios"
)

// text reads a string that is not empty.
func (r *reader) text(into *string) read {
	return func(path string, n *yaml.Node) {
		before := len(r.faults)
		if r.anyText(into)(path, n); *into == "" && len(r.faults) == before {
			r.faults.add(path, "line %d: want a text, got %s", n.Line, describe(n))
		}
	}
}

// anyText reads a string that may be empty.
func (r *reader) anyText(into *string) read {
	return func(path string, n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
			r.faults.add(path, "line %d: want a text, got %s", n.Line, describe(n))
			return
		}
		*into = n.Value
	}
}

// perf reads a performance: a finite number above 0.
func (r *reader) perf(into *float64) read {
	return func(path string, n *yaml.Node) {
		var v float64
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&v) != nil || !ratios.ValidPerf(v) {
			r.faults.add(path, "line %d: want a finite number above 0, got %s", n.Line, describe(n))
			return
		}
		*into = v
	}
}

// parseQuantity is resource.ParseQuantity for what people write. That one takes
// minutes over 1e99999999.
func parseQuantity(text string) (resource.Quantity, error) {
	exponent := strings.IndexAny(text, "eE")
	if len(text) > 64 || exponent >= 0 && len(text)-exponent > len("e-99") {
		return resource.Quantity{}, resource.ErrFormatWrong
	}
	return resource.ParseQuantity(text)
}

// check tells what is wrong with a text; nothing if it is right.
type check func(string) []string

// What labels and annotations can be, as the API server has it.
var (
	labelKey        check = content.IsLabelKey
	labelValue      check = content.IsLabelValue
	annotationKey   check = func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }
	annotationValue check = func(string) []string { return nil }
)

// key adds a fault if the text is empty, which would be no criterion, or cannot
// be what it is checked for.
func (r *reader) key(path string, line int, text string, wrong check) {
	if text == "" {
		r.faults.add(path, "line %d: must not be empty", line)
		return
	}
	r.value(path, line, text, wrong)
}

// value adds a fault if the text, which may be empty, cannot be what it is checked
// for.
func (r *reader) value(path string, line int, text string, wrong check) {
	if problems := wrong(text); len(problems) > 0 {
		r.faults.add(path, "line %d: no pod can have it: %s", line, strings.Join(problems, ", "))
	}
}
