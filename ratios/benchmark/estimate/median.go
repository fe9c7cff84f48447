package estimate

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// score is a value per vCPU, and the machine on which it was measured.
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

// newScores sorts its argument in place.
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

// median returns the weighted median; 0 if there are no scores. Every machine has the same
// weight, which its scores share.
func (s scores) median(perMachine map[string]int) float64 {
	i, j := split(len(s), float64(len(perMachine)), func(i int) float64 {
		return 1 / float64(perMachine[s[i].machine])
	})
	if i < 0 {
		return 0
	}
	return s.between(i, j)
}

// between returns the midpoint of two scores, which is finite and above 0 if they are.
func (s scores) between(i, j int) float64 { return s[i].value + (s[j].value-s[i].value)/2 }

// madScale scales the median absolute deviation of normal noise to its standard deviation.
const madScale = 1.4826

// deviation returns the scaled median absolute deviation from a center.
func (s scores) deviation(centre float64, perMachine map[string]int) float64 {
	deviations := make([]score, len(s))
	for i, x := range s {
		deviations[i] = score{math.Abs(x.value - centre), x.machine}
	}
	return madScale * newScores(deviations).median(perMachine)
}

// sameHalf is the tolerance, as a fraction of the total, within which a sum of weights counts
// as half: weights are fractions such as 1/3.
const sameHalf = 1e-9

// split finds the position in n sorted values with half of the weight on each side. It returns
// the index of one value twice, or the indexes of the two values next to the position; -1 if n
// is 0.
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
