package ratios

import (
	"math"
	"testing"
)

func TestQuotientIsExactForDecimals(t *testing.T) {
	for _, tc := range []struct {
		a, b float64
		want Quotient
	}{
		{1, 1.25, Quotient{4, 5}},
		{1, 1.3, Quotient{10, 13}},
		{1.3, 1.3, Quotient{1, 1}},
		{20482, 22207, Quotient{20482, 22207}},
		{0.1, 0.3, Quotient{1, 3}},
		{1e300, 1e300, Quotient{1, 1}},
	} {
		if got := quotient(tc.a, tc.b); got != tc.want {
			t.Errorf("quotient(%g, %g) = %v, want %v", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestQuotientOfAnyPerformancesFitsAndIsClose(t *testing.T) {
	values := []float64{math.SmallestNonzeroFloat64, 1e-300, 1e-9, 0.1, 1.0 / 3, 1, math.Pi, 1e9, 1.2345678901234567e15, 1e300, math.MaxFloat64}
	for _, a := range values {
		for _, b := range values {
			q := quotient(a, b)
			if q.Num == 0 || q.Den == 0 || q.Num >= 1<<63 || q.Den >= 1<<63 {
				t.Errorf("quotient(%g, %g) = %v does not fit", a, b, q)
			}
			want := a / b
			if want < 1e-3 || want > 1e3 {
				continue // Close enough for the bounds to decide.
			}
			if got := q.Float64(); math.Abs(got-want) > 1e-15*want {
				t.Errorf("quotient(%g, %g) = %v = %g, want %g", a, b, q, got, want)
			}
		}
	}
}
