package print

import "testing"

func TestBar(t *testing.T) {
	for _, tc := range []struct {
		done, total int64
		want        string
	}{
		{0, 10, "[..............................]   0%"},
		{5, 10, "[###############...............]  50%"},
		{10, 10, "[##############################] 100%"},
		{11, 10, "[##############################] 100%"},
		{0, 0, "[##############################] 100%"},
	} {
		if got := bar(tc.done, tc.total); got != tc.want {
			t.Errorf("%d of %d is %s, want %s", tc.done, tc.total, got, tc.want)
		}
	}
}
