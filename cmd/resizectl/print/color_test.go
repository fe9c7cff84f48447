package print

import "testing"

// What others wrote may be laid out in another way than it is written.
func TestPaintLine(t *testing.T) {
	for _, tc := range []struct {
		name, line, want string
		cells            []any
	}{
		{"in their columns", "a   b   c\n", "\x1b[31ma\x1b[0m   b   \x1b[2mc\x1b[0m\n", []any{Cell{"a", Red}, "b", Cell{"c", Dim}}},
		{"a cell in another", "ab   b\n", "ab   \x1b[31mb\x1b[0m\n", []any{"ab", Cell{"b", Red}}},
		{"what is not there as it was written", "a   ^[b   c\n", "\x1b[31ma\x1b[0m   ^[b   c\n", []any{Cell{"a", Red}, Cell{"\x1bb", Red}, Cell{"c", Red}}},
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
