package ratios

import (
	"math"
	"math/big"
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// ratioOf returns a / b.
func ratioOf(a, b float64) *big.Rat { return new(big.Rat).Quo(decimal(a), decimal(b)) }

func TestDecimal(t *testing.T) {
	t.Run("factor is exact for decimals", factorIsExactForDecimals)
	t.Run("factor of any performances fits into 63 bits and is close", factorOfAnyPerformancesFitsInto63BitsAndIsClose)
}

func factorIsExactForDecimals(t *testing.T) {
	for _, tc := range []struct {
		a, b float64
		want sizing.Factor
	}{
		{1, 1.25, sizing.Factor{Num: 4, Den: 5}},
		{1, 1.3, sizing.Factor{Num: 10, Den: 13}},
		{1.3, 1.3, sizing.Factor{Num: 1, Den: 1}},
		{20482, 22207, sizing.Factor{Num: 20482, Den: 22207}},
		{0.1, 0.3, sizing.Factor{Num: 1, Den: 3}},
		{1e300, 1e300, sizing.Factor{Num: 1, Den: 1}},
	} {
		if got := factor(ratioOf(tc.a, tc.b)); got != tc.want {
			t.Errorf("factor(%g, %g) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func factorOfAnyPerformancesFitsInto63BitsAndIsClose(t *testing.T) {
	values := []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-9, 0.1, 1.0 / 3, 1, math.Pi, 1e9, 1.2345678901234567e15, 1e300, math.MaxFloat64}
	for _, a := range values {
		for _, b := range values {
			q := factor(ratioOf(a, b))
			if q.Num == 0 || q.Den == 0 || q.Num >= 1<<63 || q.Den >= 1<<63 {
				t.Errorf("factor(%g, %g) = %v does not fit", a, b, q)
			}
			want := a / b
			if want < 1e-3 || want > 1e3 {
				continue // Close enough for the bounds to decide.
			}
			if got := q.Float64(); math.Abs(got-want) > 1e-15*want {
				t.Errorf("factor(%g, %g) = %v = %g, want %g", a, b, q, got, want)
			}
		}
	}
}
