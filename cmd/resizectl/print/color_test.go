package print

import "testing"

// The layout of text from elsewhere may differ from the text itself.
func TestPaintLine(t *testing.T) {
	for _, tc := range []struct {
		name, line, want string
		cells            []any
	}{
		{"cells in their columns", "a   b   c\n", "\x1b[31ma\x1b[0m   b   \x1b[2mc\x1b[0m\n", []any{Cell{"a", Red}, "b", Cell{"c", Dim}}},
		{"a cell that is part of another", "ab   b\n", "ab   \x1b[31mb\x1b[0m\n", []any{"ab", Cell{"b", Red}}},
		{"a cell that is laid out differently", "a   ^[b   c\n", "\x1b[31ma\x1b[0m   ^[b   c\n", []any{Cell{"a", Red}, Cell{"\x1bb", Red}, Cell{"c", Red}}},
		{"an empty cell", "a       c\n", "a       \x1b[31mc\x1b[0m\n", []any{"a", Cell{"", Red}, Cell{"c", Red}}},
		{"a cell that begins with a space", "a    b\n", "a    \x1b[31mb\x1b[0m\n", []any{"a", Cell{" b", Red}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := (Painter{on: true}).paintLine(tc.line, tc.cells); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
