package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// score is one value per vCPU, and the machine it was measured on.
type score struct {
	value   float64
	machine string
}

func byValue(a, b score) int {
	if d := cmp.Compare(a.value, b.value); d != 0 {
		return d
	}
	return strings.Compare(a.machine, b.machine)
}

// scores are sorted by value.
type scores []score

// newScores sorts what it is given.
func newScores(s []score) scores {
	slices.SortFunc(s, byValue)
	return s
}

// perMachine counts the scores of each machine.
func (s scores) perMachine() map[string]int {
	counts := make(map[string]int, len(s))
	for _, x := range s {
		counts[x.machine]++
	}
	return counts
}

// median is where the machines are split in halves, each of which weighs the same
// and shares that among its scores; 0 if there are none.
func (s scores) median(perMachine map[string]int) float64 {
	i, j := split(len(s), float64(len(perMachine)), func(i int) float64 {
		return 1 / float64(perMachine[s[i].machine])
	})
	if i < 0 {
		return 0
	}
	return s.between(i, j)
}

// between is half way from one score to the next, above 0 and finite as they are.
func (s scores) between(i, j int) float64 { return s[i].value + (s[j].value-s[i].value)/2 }

// madScale makes the median absolute deviation of normal noise its standard
// deviation.
const madScale = 1.4826

// deviation is the scaled median absolute deviation from a centre.
func (s scores) deviation(centre float64, perMachine map[string]int) float64 {
	deviations := make([]score, len(s))
	for i, x := range s {
		deviations[i] = score{math.Abs(x.value - centre), x.machine}
	}
	return madScale * newScores(deviations).median(perMachine)
}

// sameHalf is by what share of the whole sums of weights may be off a half and
// still count as half: they are sums of fractions such as 1/3.
const sameHalf = 1e-9

// split finds the place in n sorted values where half of the weight is on each
// side: one value (twice), or the two on either side of it; -1 if n is 0.
func split(n int, total float64, weight func(i int) float64) (int, int) {
	sum, half, tolerance := 0.0, total/2, total*sameHalf
	for i := range n {
		sum += weight(i)
		switch {
		case sum > half+tolerance:
			return i, i
		case sum >= half-tolerance:
			return i, i + 1
		}
	}
	last := n - 1
	return last, last
}
