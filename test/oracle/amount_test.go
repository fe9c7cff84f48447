package oracle

import (
	"math/big"
	"testing"
)

// The oracle itself is checked against numbers calculated by hand.
func TestAmount(t *testing.T) {
	none := Range{}
	for _, tc := range []struct {
		name   string
		scale  func(Amount, *big.Rat, Range) Amount
		of     Amount
		factor *big.Rat
		bounds Range
		want   Amount
	}{
		{"Guaranteed stays Guaranteed", CPU, Amount{1000, 1000}, big.NewRat(4, 5), none, Amount{800, 800}},
		{"the limit stays in proportion", CPU, Amount{500, 2000}, big.NewRat(4, 5), none, Amount{400, 1600}},
		{"the limit follows the factor even if a bound changes the request", CPU, Amount{100, 400}, big.NewRat(1, 4), Range{50, 0}, Amount{50, 100}},
		{"a bound does not raise the limit", CPU, Amount{10, 2000}, big.NewRat(1, 1), Range{50, 0}, Amount{50, 2000}},
		{"the limit stays above the request by at least a unit", CPU, Amount{10, 20}, big.NewRat(1, 1), Range{50, 0}, Amount{50, 51}},
		{"the limit does not grow in relation to its request", CPU, Amount{14000, 28000}, big.NewRat(13, 10), Range{0, 16000}, Amount{16000, 32000}},
		{"the upper bound limits the request", CPU, Amount{2000, 0}, big.NewRat(3, 2), Range{0, 1000}, Amount{1000, 0}},
		{"cpu is rounded to the nearest millicore", CPU, Amount{1000, 0}, big.NewRat(10, 13), none, Amount{769, 0}},
		{"halves are rounded up", CPU, Amount{5, 0}, big.NewRat(1, 2), none, Amount{3, 0}},
		{"memory is rounded up to a whole Mi", Memory, Amount{1 << 30, 1 << 30}, big.NewRat(10, 11), none, Amount{931 * Mebibyte, 931 * Mebibyte}},
		{"memory does not change at a factor of 1", Memory, Amount{1000, 1001}, big.NewRat(1, 1), none, Amount{1000, 1001}},
		{"no request stays no request", CPU, Amount{0, 0}, big.NewRat(4, 5), Range{50, 0}, Amount{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.scale(tc.of, tc.factor, tc.bounds); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
