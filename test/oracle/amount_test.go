package oracle

import (
	"math/big"
	"testing"
)

// What is right is itself held against numbers worked out by hand.
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
		{"the limit keeps its distance", CPU, Amount{500, 2000}, big.NewRat(4, 5), none, Amount{400, 1600}},
		{"the limit goes with the factor, whatever a bound made of the request", CPU, Amount{100, 400}, big.NewRat(1, 4), Range{50, 0}, Amount{50, 100}},
		{"a bound raises no limit", CPU, Amount{10, 2000}, big.NewRat(1, 1), Range{50, 0}, Amount{50, 2000}},
		{"but by a unit, to stay above", CPU, Amount{10, 20}, big.NewRat(1, 1), Range{50, 0}, Amount{50, 51}},
		{"no more times its request than before", CPU, Amount{14000, 28000}, big.NewRat(13, 10), Range{0, 16000}, Amount{16000, 32000}},
		{"held at the upper bound", CPU, Amount{2000, 0}, big.NewRat(3, 2), Range{0, 1000}, Amount{1000, 0}},
		{"to the nearest millicore", CPU, Amount{1000, 0}, big.NewRat(10, 13), none, Amount{769, 0}},
		{"halves up", CPU, Amount{5, 0}, big.NewRat(1, 2), none, Amount{3, 0}},
		{"memory up to a whole Mi", Memory, Amount{1 << 30, 1 << 30}, big.NewRat(10, 11), none, Amount{931 * Mebibyte, 931 * Mebibyte}},
		{"memory untouched at 1", Memory, Amount{1000, 1001}, big.NewRat(1, 1), none, Amount{1000, 1001}},
		{"nothing asked for", CPU, Amount{0, 0}, big.NewRat(4, 5), Range{50, 0}, Amount{0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.scale(tc.of, tc.factor, tc.bounds); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
