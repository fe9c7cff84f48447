package print

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// SortPath is a value of --sort-by: the path of the field by which objects are sorted. The zero
// value leaves them in the order of the server.
type SortPath struct{ path *fieldPath }

// String implements pflag.Value.
func (s *SortPath) String() string {
	if s.path == nil {
		return ""
	}
	return s.path.text
}

// Set implements pflag.Value.
func (s *SortPath) Set(text string) (err error) {
	s.path, err = parsePath(text)
	return err
}

// Type implements pflag.Value.
func (s *SortPath) Type() string { return "path" }

// IsSet reports whether objects are sorted.
func (s *SortPath) IsSet() bool { return s.path != nil }

// Sort sorts values by the field of --sort-by, if there is one.
func Sort[T any](by SortPath, values []T) error {
	return SortBy(by, values, func(value T) (map[string]any, error) { return Object(value) })
}

// SortBy sorts values by the field of --sort-by in the objects that of returns. What lacks the field
// comes first. It is an error if everything lacks it: then its path is wrong.
func SortBy[T any](by SortPath, values []T, of func(T) (map[string]any, error)) error {
	if by.path == nil || len(values) == 0 {
		return nil
	}
	type keyed struct {
		value T
		key   any
	}
	all, found := make([]keyed, len(values)), false
	for i, value := range values {
		object, err := of(value)
		if err != nil {
			return err
		}
		all[i].value = value
		if keys := by.path.find(object); len(keys) > 0 {
			all[i].key, found = orderable(keys[0]), true
		}
	}
	if !found {
		return fmt.Errorf("sort by %s: no object has this field: name one that -o json shows, such as .%s", by.path.text, anyField(values[0], of))
	}
	var failed error
	slices.SortStableFunc(all, func(a, b keyed) int {
		order, err := compare(a.key, b.key)
		failed = cmp.Or(failed, err)
		return order
	})
	if failed != nil {
		return fmt.Errorf("sort by %s: %w", by.path.text, failed)
	}
	for i := range all {
		values[i] = all[i].value
	}
	return nil
}

// orderable returns a string that is a quantity, such as 500m, as a quantity, and all others unchanged.
func orderable(key any) any {
	text, ok := key.(string)
	if !ok {
		return key
	}
	q, err := sizing.Quantity(text)
	if err != nil {
		return key
	}
	return &q
}

// anyField returns the name of a field with a single value, as an example.
func anyField[T any](value T, of func(T) (map[string]any, error)) string {
	object, err := of(value)
	if err != nil {
		return ""
	}
	var names []string
	for name, value := range object {
		if _, err := compare(value, value); err == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[0]
}

var errUnsortable = errors.New("the field is a list or an object: name a field in it with a single value")

// compare orders the values of fields; nil is first.
func compare(a, b any) (int, error) {
	if a == nil || b == nil {
		return cmp.Compare(rank(a), rank(b)), nil
	}
	switch x := a.(type) {
	case *resource.Quantity:
		switch y := b.(type) {
		case *resource.Quantity:
			return x.Cmp(*y), nil
		case string:
			return cmp.Compare("0", y), nil // As kubectl: after an empty string, before a word.
		}
	case string:
		switch y := b.(type) {
		case *resource.Quantity:
			return cmp.Compare(x, "0"), nil
		case string:
			return cmp.Compare(x, y), nil
		}
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(rank(x), rank(y)), nil
		}
	case int64, float64:
		switch b.(type) {
		case int64, float64:
			return cmp.Compare(float(a), float(b)), nil
		}
	}
	return 0, errUnsortable
}

// rank orders nil, false and everything else.
func rank(value any) int {
	switch value {
	case nil:
		return 0
	case false:
		return 1
	}
	return 2
}

func float(number any) float64 {
	if n, ok := number.(int64); ok {
		return float64(n)
	}
	return number.(float64)
}
