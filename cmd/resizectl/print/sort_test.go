package print

import (
	"slices"
	"testing"
)

// kubectl sorts in the same order, but does not keep the order of equal objects.
func TestSortBy(t *testing.T) {
	for _, tc := range []struct {
		name       string
		keys, want []any
	}{
		{"text", []any{"web", "api", "Web"}, []any{"Web", "api", "web"}},
		{"numbers", []any{int64(10), int64(9), 9.5}, []any{int64(9), 9.5, int64(10)}},
		{"quantities", []any{"2", "1Gi", "500m"}, []any{"500m", "2", "1Gi"}},
		{"quantities next to empty text", []any{"2", "", "500m"}, []any{"", "500m", "2"}},
		{"quantities next to words", []any{"none", "2", "1Gi", "any", "500m"}, []any{"500m", "2", "1Gi", "any", "none"}},
		{"booleans", []any{true, false}, []any{false, true}},
		{"missing fields", []any{"b", nil, "a"}, []any{nil, "a", "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var by SortPath
			if err := by.Set(".key"); err != nil {
				t.Fatal(err)
			}
			got := slices.Clone(tc.keys)
			if err := SortBy(by, got, func(key any) (map[string]any, error) {
				if key == nil {
					return map[string]any{}, nil
				}
				return map[string]any{"key": key}, nil
			}); err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}
