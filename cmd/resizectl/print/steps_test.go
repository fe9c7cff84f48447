package print

import "testing"

func TestWrap(t *testing.T) {
	const text = " 1. Node: shop/web runs on n4-0, which has type n4 by its label."
	for _, tc := range []struct {
		name, line string
		width      int
		want       string
	}{
		{"no terminal", text, 0, text},
		{"too narrow to be readable", text, 39, text},
		{"wide enough", text, len(text), text},
		{"one column too narrow", text, len(text) - 1, " 1. Node: shop/web runs on n4-0, which has type n4 by its\n    label."},
		{"several lines", text, 40, " 1. Node: shop/web runs on n4-0, which\n    has type n4 by its label."},
		{"three lines", text + " It is fast: 1.25 of the baseline.", 40, " 1. Node: shop/web runs on n4-0, which\n    has type n4 by its label. It is\n    fast: 1.25 of the baseline."},
		{"colors take no column", " 1. \x1b[32mfreed\x1b[0m 12345678901234567890123456789", 39 + 1, " 1. \x1b[32mfreed\x1b[0m 12345678901234567890123456789"},
		{"a word that fits nowhere", " 1. 12345678901234567890123456789012345678901234567890 end", 40, " 1. 12345678901234567890123456789012345678901234567890\n    end"},
		{"letters of several bytes", " 1. 500m → 400m → 300m → 200m → 100m → 10m", 42, " 1. 500m → 400m → 300m → 200m → 100m → 10m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := wrap(tc.line, tc.width, 4); got != tc.want {
				t.Errorf("got\n%q, want\n%q", got, tc.want)
			}
		})
	}
}
