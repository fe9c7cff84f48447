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
	// single is the score of one thread; 0 if it is not known.
	single float64
	// load is the share of the time that other processes used.
	load float64
	// recency is the weight that the age of the sample and the load of others leave, and weight
	// its share of the weight of the machine; see newScores.
	recency, weight float64
}

func byValue(a, b score) int {
	return cmp.Or(cmp.Compare(a.value, b.value), strings.Compare(a.machine, b.machine),
		cmp.Compare(a.recency, b.recency), cmp.Compare(a.single, b.single))
}

// scores are sorted by value, and have weights.
type scores []score

// newScores sorts its argument in place, and sets the weights: a machine has the weight of its
// best sample, which its samples share by their own weights. So a machine that is measured often
// does not count more than others.
func newScores(s []score) scores {
	slices.SortFunc(s, byValue)
	best, sum := make(map[string]float64, len(s)), make(map[string]float64, len(s))
	for _, x := range s {
		best[x.machine] = max(best[x.machine], x.recency)
		sum[x.machine] += x.recency
	}
	for i := range s {
		s[i].weight = best[s[i].machine] * s[i].recency / sum[s[i].machine]
	}
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

// addMachines adds the machines to names.
func (s scores) addMachines(names map[string]bool) {
	for _, x := range s {
		names[x.machine] = true
	}
}

// median returns the weighted median; 0 if there are no scores.
func (s scores) median() float64 {
	total := 0.0
	for _, x := range s {
		total += x.weight
	}
	i, j := split(len(s), total, func(i int) float64 { return s[i].weight })
	if i < 0 {
		return 0
	}
	return s[i].value + (s[j].value-s[i].value)/2 // Finite and above 0 if both are.
}

// madScale scales the median absolute deviation of normal noise to its standard deviation.
const madScale = 1.4826

// deviation returns the scaled median absolute deviation from a center.
func (s scores) deviation(center float64) float64 {
	deviations := slices.Clone(s)
	for i := range deviations {
		deviations[i].value = math.Abs(deviations[i].value - center)
	}
	slices.SortFunc(deviations, byValue)
	return madScale * deviations.median()
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
			return i, min(i+1, n-1)
		}
	}
	last := n - 1
	return last, last
}
