package sizing

import (
	"math"
	"testing"
)

func TestBoost(t *testing.T) {
	t.Run("raises amounts, rounded up", func(t *testing.T) {
		for _, tc := range []struct {
			by     Boost
			amount int64
			want   int64
			raises bool
		}{
			{Boost{}, 333, 333, false},
			{Boost{Factor: Factor{1000, 1000}}, 333, 333, false},
			{Boost{Factor: Factor{3000, 1000}}, 333, 999, true},
			{Boost{Factor: Factor{1500, 1000}}, 333, 500, true},
			{Boost{More: 500}, 333, 833, true},
			{Boost{Factor: Factor{3000, 1000}}, 0, 0, true},
			{Boost{Factor: Factor{3000, 1000}}, mostMillicores - 1, mostMillicores, true},
			{Boost{More: 1}, math.MaxInt64, mostMillicores, true},
		} {
			if got := tc.by.Of(tc.amount, mostMillicores); got != tc.want || tc.by.Raises() != tc.raises {
				t.Errorf("%+v of %d is %d, want %d; raises: %t", tc.by, tc.amount, got, tc.want, tc.by.Raises())
			}
		}
	})
}
