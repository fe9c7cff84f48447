package estimate

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/student"
)

// Interval is a confidence interval of a ratio.
type Interval struct{ Low, High float64 }

// byChance is the probability with which few benchmarks may agree by chance, when their spread is
// compared with the tolerance.
const byChance = 0.1

// interval returns the confidence interval of the mean of the parts; nil if it is not known,
// because there is only one benchmark, or one machine of a side that has no prior. The square of
// its half-width, as a logarithm, is the sum of the squares of two half-widths: that of the
// machines, which differ within a type, and that of the benchmarks, whose ratios differ.
//
// If other processes used the machines of one side more, its scores are too low by an amount that
// no number of machines reveals. Both half-widths include this bias.
//
// certain is the half-width for the largest spread of the benchmarks that is likely. Of many node
// types, the benchmarks of some agree by chance: without this, mostly these would be applied.
func interval(parts []part, s *Settings) (of *Interval, certain float64) {
	if len(parts) < 2 {
		return nil, 0
	}
	spread, squares := spread(parts)
	// With equal weights, 1/squares is the number of benchmarks.
	free := 1/squares - 1
	across := student.Quantile(s.Confidence, free) * spread * math.Sqrt(squares)
	a, aFree := machineVariance(parts, func(c *cell) []share { return []share{{c.of, 1}} }, s)
	b, bFree := machineVariance(parts, func(c *cell) []share { return c.base }, s)
	if aFree == 0 || bFree == 0 {
		return nil, 0
	}
	// Welch's degrees of freedom. Without any variance, any number is right.
	within, freedom := a+b, math.Inf(1)
	if d := a*a/aFree + b*b/bFree; d > 0 {
		freedom = within * within / d
	}
	t := student.Quantile(s.Confidence, freedom)
	bias := loadBias * math.Abs(busier(parts))
	half := bias + math.Sqrt(t*t*within+across*across)
	certain = bias + math.Sqrt(t*t*within+across*across/student.LeastVariance(1-byChance, free))
	mean := meanLog(parts)
	return &Interval{exp(mean - half), exp(mean + half)}, certain
}

// busier returns how much more of the time other processes used the machines of the node type than
// those of the baseline.
func busier(parts []part) float64 {
	return meanOf(parts, func(p *part) float64 { return p.busier })
}

// spread returns the standard deviation of the ratios of benchmarks, as logarithms, and the sum
// of the squares of their weights, which sum to 1.
func spread(parts []part) (deviation, squares float64) {
	mean, total := meanLog(parts), totalWeight(parts)
	variance := 0.0
	for i := range parts {
		w := parts[i].weight / total
		squares += w * w
		variance += w * (parts[i].ratio - mean) * (parts[i].ratio - mean)
	}
	if squares >= 1 {
		return 0, 1
	}
	return math.Sqrt(variance / (1 - squares)), squares
}

// share is how much a series of the baseline counts in a cell.
type share struct {
	*series
	weight float64
}

// effect is how far the scores of a machine are from the means.
type effect struct {
	size int
	// influence is the derivative of the ratio by the machine's speed.
	influence, sum float64
}

// machineVariance returns the variance of the logarithm of the ratio that comes from differences
// between the machines of one side, and its degrees of freedom; 0 if it is not known. For
// published scores, there is one machine per type and size, and a prior takes the place of a
// measured variance that is lower.
func machineVariance(parts []part, side func(*cell) []share, s *Settings) (variance, freedom float64) {
	effects := make(map[string]*effect)
	own, total := false, totalWeight(parts)
	for i := range parts {
		p := &parts[i]
		for j := range p.cells {
			for _, x := range side(&p.cells[j]) {
				own = own || x.own
				addEffects(effects, x.series, p.weight/total*p.cells[j].weight*x.weight)
			}
		}
	}
	squares, sum := 0.0, 0.0
	sizes := make(map[int]bool)
	for _, name := range slices.Sorted(maps.Keys(effects)) {
		e := effects[name]
		sizes[e.size] = true
		squares += e.influence * e.influence
		sum += (e.sum / e.influence) * (e.sum / e.influence)
	}
	freedom = float64(len(effects) - len(sizes))
	if freedom > 0 {
		variance = sum / freedom
	}
	if prior := s.Prior * s.Prior; !own && prior >= variance {
		return prior * squares, math.Inf(1)
	}
	return variance * squares, freedom
}

// addEffects adds the machines of a series, whose mean has the given influence on the ratio.
func addEffects(effects map[string]*effect, x *series, influence float64) {
	weights := 0.0
	for _, v := range x.scores {
		weights += v.weight
	}
	for _, v := range x.scores {
		e := effects[v.machine]
		if e == nil {
			e = &effect{size: x.vcpus}
			effects[v.machine] = e
		}
		of := influence * v.weight / weights
		e.influence += of
		e.sum += of * (math.Log(v.value) - x.all)
	}
}

// sizeWeights returns the weights of sizes, which sum to 1: how many vCPUs the cluster has in
// machines of each size. If it has none of these sizes, all count alike.
func sizeWeights(sizes []int, of map[int]float64) []float64 {
	weights, total := make([]float64, len(sizes)), 0.0
	for i, size := range sizes {
		weights[i] = of[size]
		total += weights[i]
	}
	for i := range weights {
		if total > 0 {
			weights[i] /= total
		} else {
			weights[i] = 1 / float64(len(sizes))
		}
	}
	return weights
}

// nearest returns the series of the baseline to compare with a size that it does not have: the
// next smaller and the next larger one, weighted so that they stand for this size. The speed per
// vCPU changes with the logarithm of the size. It returns nil if they are too far apart.
func nearest(sorted []*series, vcpus int) []share {
	const mostApart = 2
	i, _ := slices.BinarySearchFunc(sorted, vcpus, func(x *series, n int) int { return cmp.Compare(x.vcpus, n) })
	if i == 0 || i == len(sorted) {
		return nil
	}
	below, above := sorted[i-1], sorted[i]
	if above.vcpus > mostApart*below.vcpus {
		return nil
	}
	log := func(n int) float64 { return math.Log(float64(n)) }
	up := (log(vcpus) - log(below.vcpus)) / (log(above.vcpus) - log(below.vcpus))
	return []share{{below, 1 - up}, {above, up}}
}
