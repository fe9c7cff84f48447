package reconciler

import (
	"math"
	"strings"
	"testing"
)

func TestWhatIsPackedIsUnpacked(t *testing.T) {
	texts := []string{"", "a", strings.Repeat("b", 200), strings.Repeat("c", longText-1), strings.Repeat("d", longText), "\x00|"}
	numbers := []int64{0, 1, -1, 63, 64, -64, -65, 1_700_000_000, math.MaxInt64, math.MinInt64}
	var p packer
	for _, text := range texts {
		p.text(text)
	}
	for _, n := range numbers {
		p.number(n)
	}
	u := unpacker{string(p.packed), p.long}
	for _, text := range texts {
		if got := u.text(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	for _, n := range numbers {
		if got := u.number(); got != n {
			t.Errorf("got %d, want %d", got, n)
		}
	}
	if u.packed != "" || len(u.long) > 0 {
		t.Errorf("%q and %d texts are left", u.packed, len(u.long))
	}
}
