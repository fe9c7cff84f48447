package student

import (
	"math"
	"testing"
)

func TestQuantile(t *testing.T) {
	// From tables of Student's distribution.
	for _, tc := range []struct{ probability, freedom, want float64 }{
		{0.95, 1, 12.7062}, {0.95, 2, 4.3027}, {0.95, 3, 3.1824}, {0.95, 7, 2.3646}, {0.95, 30, 2.0423}, {0.95, math.Inf(1), 1.9600},
		{0.99, 1, 63.6567}, {0.99, 5, 4.0321}, {0.5, 4, 0.7407}, {0.95, 1e6, 1.9600},
	} {
		if got := Quantile(tc.probability, tc.freedom); math.Abs(got/tc.want-1) > 0.001 {
			t.Errorf("%v with %v degrees of freedom: %.4f, want %.4f", tc.probability, tc.freedom, got, tc.want)
		}
	}
}

func TestLeastVariance(t *testing.T) {
	// From tables of the chi-squared distribution.
	for _, tc := range []struct{ probability, freedom, want float64 }{
		{0.9, 1, 0.01579}, {0.9, 2, 0.2107 / 2}, {0.9, 3, 0.5844 / 3}, {0.9, 39, 28.196 / 39}, {0.95, 10, 3.940 / 10}, {0.5, 5, 4.351 / 5},
	} {
		if got := LeastVariance(tc.probability, tc.freedom); math.Abs(got/tc.want-1) > 0.001 {
			t.Errorf("%v with %v degrees of freedom: %.5f, want %.5f", tc.probability, tc.freedom, got, tc.want)
		}
	}
}
