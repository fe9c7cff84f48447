package keys

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/workload-resizer/workload-resizer/internal/reader"
)

// Syntax returns the problems with text; none if it is valid.
type Syntax func(string) []string

// The syntax of names, labels and annotations, as the API server defines it.
var (
	Name            Syntax = content.IsDNS1123Label
	LabelKey        Syntax = content.IsLabelKey
	LabelValue      Syntax = content.IsLabelValue
	AnnotationKey   Syntax = func(s string) []string { return content.IsLabelKey(strings.ToLower(s)) }
	AnnotationValue Syntax = func(string) []string { return nil }
)

// Key adds a fault if the text does not match the syntax, or is empty: an empty key
// cannot be a criterion.
func (wrong Syntax) Key(v reader.Value, text string) {
	if text == "" {
		v.Fault("must not be empty")
		return
	}
	wrong.Value(v, text)
}

// Value adds a fault if the text, which may be empty, does not match the syntax.
func (wrong Syntax) Value(v reader.Value, text string) {
	if problems := wrong(text); len(problems) > 0 {
		v.Fault("not valid on a pod: %s", strings.Join(problems, ", "))
	}
}
