package estimate

import (
	"cmp"
	"math"
)

// pair is one benchmark that two pools have in common, in the version to compare.
type pair struct {
	of, base *series
	// weight is 0 if the benchmark is only shown.
	weight float64
	// enough means that both sides have enough samples and machines.
	enough bool
}

func (p *pair) samples() int  { return min(p.of.samples, p.base.samples) }
func (p *pair) machines() int { return min(p.of.machines, p.base.machines) }

// ratio returns the logarithm of how many times as fast the first pool is.
func (p *pair) ratio() float64 { return math.Log(p.of.median) - math.Log(p.base.median) }

// compare pairs the benchmarks that two pools have in common, one pair per benchmark, by name.
//
// Once there are enough other pairs, pairs with too few samples or machines are shown
// but do not count: one row of a new feed neither moves a ratio nor holds it back.
// Until then, they count, and the estimate is shown but held back.
func compare(of, base *pool, s *Settings) []pair {
	var pairs []pair
	for i, j := 0, 0; i < len(of.series) && j < len(base.series); {
		a, b := of.series[i], base.series[j]
		switch d := a.compare(b.test); {
		case d < 0:
			i++
			continue
		case d > 0:
			j++
			continue
		}
		i, j = i+1, j+1
		next := pair{of: a, base: b, weight: s.weight(a.benchmark)}
		next.enough = next.samples() >= s.MinSamples && next.machines() >= s.MinMachines
		last := len(pairs) - 1
		switch {
		case last < 0 || pairs[last].of.benchmark != a.benchmark:
			pairs = append(pairs, next)
		case next.better(&pairs[last]):
			pairs[last] = next
		}
	}
	if countEnough(pairs) >= s.benchmarks() {
		for i := range pairs {
			if !pairs[i].enough {
				pairs[i].weight = 0
			}
		}
	}
	return pairs
}

// better reports whether p is the better version of a benchmark to compare: the version with
// enough samples and machines, then with more samples on the side that has fewer, then the
// newer one.
func (p *pair) better(other *pair) bool {
	if p.enough != other.enough {
		return p.enough
	}
	newest := earlier(p.of.newest, p.base.newest)
	return cmp.Or(
		cmp.Compare(p.samples(), other.samples()),
		newest.Compare(earlier(other.of.newest, other.base.newest)),
		cmp.Compare(p.of.version, other.of.version)) > 0
}

// countEnough counts the benchmarks that have enough samples and machines, and a weight.
func countEnough(pairs []pair) int {
	n := 0
	for i := range pairs {
		if pairs[i].enough && pairs[i].weight > 0 {
			n++
		}
	}
	return n
}

// counting returns the pairs that count: the others are only shown.
func counting(pairs []pair) []pair {
	var counting []pair
	for _, p := range pairs {
		if p.weight > 0 {
			counting = append(counting, p)
		}
	}
	return counting
}

// mean returns the weighted geometric mean of the ratios of the pairs; 0 if there are none.
func mean(pairs []pair) float64 {
	if len(pairs) == 0 {
		return 0
	}
	sum, weights := 0.0, 0.0
	for i := range pairs {
		sum += pairs[i].weight * pairs[i].ratio()
		weights += pairs[i].weight
	}
	return exp(sum / weights)
}

// exp always returns a finite number above 0, regardless of the scores.
func exp(log float64) float64 { return math.Exp(max(-700, min(log, 700))) }
