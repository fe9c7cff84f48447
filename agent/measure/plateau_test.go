package measure

import (
	"math"
	"slices"
	"testing"
)

// Measured on a virtual machine with an intermittent neighbor: one thread's work per second of
// CPU time.
var (
	withNeighbor = map[string][]float64{
		"json":   {916, 577, 656, 503, 933, 550, 930, 547, 944, 541, 538, 925},
		"regexp": {257, 142, 163, 150, 265, 136, 257, 155, 272, 149, 151, 262},
		"sort":   {323, 274, 263, 291, 315, 265, 314, 241, 327, 250, 252, 324},
		"flate":  {246, 233, 207, 257, 249, 207, 253, 255, 256, 205, 206, 255},
	}
	alone = map[string]float64{"json": 930, "regexp": 265, "sort": 324, "flate": 256}
)

func TestPlateau(t *testing.T) {
	for _, tc := range []struct {
		name      string
		rates     []float64
		score     float64
		runs      int
		disturbed int
	}{
		{"returns the rate of a steady machine", []float64{100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100}, 100, 3, 0},
		{"uses the upper of two levels if it is rare", []float64{55, 56, 100, 54, 55, 101, 55, 53, 55, 102, 54, 55}, 101, 3, 9},
		{"uses the upper of two levels if it is common", []float64{100, 101, 55, 100, 99, 101, 102, 56, 100, 101, 100, 99}, 101, 3, 2},
		{"ignores a single rate that is too high", []float64{100, 101, 55, 100, 99, 101, 300, 56, 100, 101, 100, 99}, 101, 3, 2},
		{"uses a quarter of many repetitions", slices.Repeat([]float64{100, 55, 54, 56}, 10), 100, 10, 30},
		{"uses three of a few repetitions", []float64{100, 55, 102, 101, 54}, 101, 3, 2},
		{"uses the median of three", []float64{55, 100, 98}, 98, 3, 1},
		{"has no score with two repetitions", []float64{100, 100}, 0, 0, 0},
		{"has no score without repetitions", nil, 0, 0, 0},
		{"does not count ten percent slower as disturbed", []float64{100, 100, 100, 90, 89.9}, 100, 3, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := plateau(tc.rates)
			if f.score != tc.score || f.runs != tc.runs || f.disturbed != tc.disturbed {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestPlateauRules(t *testing.T) {
	t.Run("an invisible neighbor does not change scores", anInvisibleNeighborDoesNotChangeScores)
	t.Run("plateau does not reorder its argument", plateauDoesNotReorderItsArgument)
	t.Run("only the fastest quarter determines the deviation", onlyTheFastestQuarterDeterminesTheDeviation)
	t.Run("threads of a kind have one plateau", threadsOfAKindHaveOnePlateau)
	t.Run("threads are of a kind if as many share their core", threadsAreOfAKindIfAsManyShareTheirCore)
}

func anInvisibleNeighborDoesNotChangeScores(t *testing.T) {
	for kernel, rates := range withNeighbor {
		f := plateau(rates)
		if math.Abs(f.score/alone[kernel]-1) > 0.025 || f.deviation/f.score > 0.03 {
			t.Errorf("%s: got %+v, want %v", kernel, f, alone[kernel])
		}
		if kernel != "flate" && f.disturbed < len(rates)/2 {
			t.Errorf("%s: only %d of %v count as disturbed", kernel, f.disturbed, rates)
		}
	}
}

func plateauDoesNotReorderItsArgument(t *testing.T) {
	rates := []float64{3, 1, 2, 5, 4}
	plateau(rates)
	if !slices.Equal(rates, []float64{3, 1, 2, 5, 4}) {
		t.Errorf("got %v", rates)
	}
}

func onlyTheFastestQuarterDeterminesTheDeviation(t *testing.T) {
	// The deviations of 1000, 102, 101, 100 and 98 from 101 are 899, 1, 0, 1 and 3.
	rates := append(slices.Repeat([]float64{50, 70, 90}, 5), 1000, 102, 101, 100, 98)
	if f := plateau(rates); f.score != 101 || math.Abs(f.deviation-1.4826) > 1e-9 {
		t.Errorf("got %+v", f)
	}
}

func threadsOfAKindHaveOnePlateau(t *testing.T) {
	var s series
	for i := range 12 {
		// The first is disturbed half of the time, the second always.
		s.add([]float64{100 - 50*float64(i%2), 55, 30})
	}
	for _, tc := range []struct {
		name       string
		kinds      [][]int
		score      float64
		rates, bad int
	}{
		{"a permanent neighbor does not change the score", [][]int{{0, 1}}, 200, 24, 18},
		{"threads of another kind have their own plateau", [][]int{{0, 1}, {2}}, 230, 36, 18},
		{"threads of different kinds all have their own plateau", [][]int{{0}, {1}, {2}}, 185, 36, 6},
	} {
		f := s.each(tc.kinds)
		if f.score != tc.score || f.runs != 3 || f.repetitions != tc.rates || f.disturbed != tc.bad || f.spread() != 0 {
			t.Errorf("%s: got %+v", tc.name, f)
		}
	}
	if f := s.together(); f.score != 185 || f.runs != 3 || f.disturbed != 6 {
		t.Errorf("shared resources: got %+v", f)
	}
	if f := (series{{1, 1}, {1, 1}}).each([][]int{{0, 1}}); f.score != 0 || f.runs != 0 {
		t.Errorf("two repetitions: got %+v", f)
	}
}

func threadsAreOfAKindIfAsManyShareTheirCore(t *testing.T) {
	for _, tc := range []struct {
		name string
		Limits
		want [][]int
	}{
		{"all threads are of one kind if sharing is unknown", Limits{CPUs: []int{0, 1, 2}}, [][]int{{0, 1, 2}}},
		{"pairs are of one kind", Limits{CPUs: []int{0, 1, 2, 3}, Sharing: []int{2, 2, 2, 2}}, [][]int{{0, 1, 2, 3}}},
		{"a thread with its own core is of another kind than threads that share one", Limits{CPUs: []int{0, 1, 5}, Sharing: []int{2, 2, 1}}, [][]int{{2}, {0, 1}}},
		{"all threads of a spot check are of one kind", Limits{CPUs: []int{0}, Sharing: []int{2, 2}}, [][]int{{0}}},
	} {
		if got := tc.kinds(); !slices.EqualFunc(got, tc.want, slices.Equal[[]int]) {
			t.Errorf("%s: got %v", tc.name, got)
		}
	}
}
