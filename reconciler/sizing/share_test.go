package sizing

import (
	"math"
	"testing"
)

func TestShare(t *testing.T) {
	for share, want := range map[float64]int64{-1: 0, 0: 0, 0.25: 250, 0.2501: 251, 0.9999: 1000, 1: 1000, 7: 1000, math.Inf(1): 1000, math.Inf(-1): 0} {
		if got := Share(1000, share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
	if got := Share(1000, math.NaN()); got != 1000 {
		t.Errorf("an unknown share: %d", got)
	}
	if got := Share(math.MaxInt64, math.Nextafter(1, 0)); got <= 0 {
		t.Errorf("a share of the largest amount: %d", got)
	}
}
