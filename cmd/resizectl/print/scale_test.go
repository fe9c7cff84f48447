package print

import (
	"math"
	"testing"
)

func TestScale(t *testing.T) {
	const width = 11
	for _, tc := range []struct {
		name  string
		spots []Spot
		want  []string
	}{
		{"has room for all spots and for 1", []Spot{{Value: 2}, {Value: 1.5}}, []string{"│         ●", "│    ●     "}},
		{"has 1 at its end if all are slower", []Spot{{Value: 0.5}}, []string{"●         │"}},
		{"shows one that is as fast as the baseline", []Spot{{Value: 1}}, []string{"     ●     "}},
		{"draws intervals", []Spot{{1.5, 1.2, 1.9}, {Value: 2}}, []string{"│ ├──●───┤ ", "│         ●"}},
		{"has room for intervals", []Spot{{1.5, 1.25, 2}}, []string{"│  ├─●────┤"}},
		{"draws intervals over 1", []Spot{{1, 0.9, 1.1}}, []string{"├────●────┤"}},
		{"draws a narrow interval as a dot", []Spot{{1.5, 1.499, 1.501}, {Value: 2}}, []string{"│    ●     ", "│         ●"}},
		{"cuts intervals that would hide the rest", []Spot{{1.5, 0.1, 34}, {Value: 2}}, []string{"├─┼─●─────→", "  │  ●     "}},
		{"cuts them on both sides", []Spot{{1.2, 0.1, 34}}, []string{"←───┼─●───→"}},
		{"leaves out what is no ratio", []Spot{{Value: math.NaN()}, {Value: math.Inf(1)}, {Value: -1}, {Value: 2}}, []string{"│          ", "│          ", "│          ", "│         ●"}},
		{"leaves out intervals that are none", []Spot{{1.5, 2, 1}, {1.5, math.NaN(), 2}, {Value: 2}}, []string{"│    ●     ", "│    ●     ", "│         ●"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			scale := ScaleOf(tc.spots...)
			for i, spot := range tc.spots {
				if got := scale.Draw(spot, width); got != tc.want[i] {
					t.Errorf("%v: %q, want %q", spot, got, tc.want[i])
				}
			}
		})
	}
}
