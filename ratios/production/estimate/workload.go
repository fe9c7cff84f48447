package estimate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// workload is what is known of a workload, in the form that the model needs.
type workload struct {
	key evidence.Key
	// cores are, by type, how many its replicas use there together.
	cores map[int]float64
	known bool
	pairs []pair
	// spread is the variance between replicas of one type, and kinds the same for each type.
	spread float64
	kinds  []spread
	// throttled is the share of the hours in which replicas were throttled.
	hours, days, throttled float64
	held                   Reason
	// honest is the probability that the workload does not mislead.
	honest float64
}

// pair is the comparison of two types within zones.
type pair struct {
	a, b int
	// ratio is the logarithm of the ratio of b to a, and over its variance over hours.
	ratio, over float64
	hours       float64
	replicas    [2]float64
	// slope is how the ratio grows with load, with a weight and the sum of squared deviations over days.
	slope, weight, squares, days float64
}

// each is the variance of a difference in an hour, per variance between replicas.
func (p *pair) each() float64 { return 1/p.replicas[0] + 1/p.replicas[1] }

// workloads returns the workloads by key, and corrects their differences by how busy their nodes were.
func workloads(e *evidence.Evidence, slow []slowdown, s *Settings) []workload {
	keys := sorted(e.Workloads)
	all := make([]workload, 0, len(keys))
	var spreads []float64
	for _, key := range keys {
		w := e.Workloads[key]
		x := workload{key: key, cores: coresOf(w), known: w.Known, honest: 1}
		if w.Pulls && !w.Known {
			x.held = Pulls
		}
		most := 0.0
		for i := range w.Cells {
			c := &w.Cells[i]
			x.hours += c.Hours()
			x.days = max(x.days, c.Slope.Days)
			most = max(most, c.Hours())
		}
		x.throttled = w.Throttled / max(w.Throttled+most, 1)
		x.kinds = spreadsOf(w.Cells)
		x.spread = pooled(x.kinds)
		if x.hours > 0 {
			spreads = append(spreads, x.spread)
		}
		all = append(all, x)
	}
	usual := median(spreads)
	middle := busyMean(e)
	for i := range all {
		x := &all[i]
		x.compare(e.Workloads[x.key].Cells, slow, middle, s)
		x.check(usual, s)
	}
	return all
}

// sorted returns the keys in order, so that sums are the same each time.
func sorted[V any](m map[evidence.Key]V) []evidence.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b evidence.Key) int { return cmp.Compare(a, b) })
}

// coresOf divides the cores of a workload between types, by replicas.
func coresOf(w *evidence.Workload) map[int]float64 {
	cores := make(map[int]float64)
	for i := range w.Cells {
		c := &w.Cells[i]
		for side, t := range [2]int{c.A, c.B} {
			cores[t] = max(cores[t], c.Replicas[side])
		}
	}
	sum := 0.0
	for _, t := range slices.Sorted(maps.Keys(cores)) {
		sum += cores[t]
	}
	for t := range cores {
		cores[t] *= w.Cores / max(sum, 1)
	}
	return cores
}

// lasting is for how many hours deviations of replicas last, where the evidence does not tell.
const lasting = 12.0

// compare fills the pairs.
func (x *workload) compare(cells []evidence.Cell, slow []slowdown, middle float64, s *Settings) {
	corrected := func(c *evidence.Cell, of *evidence.Compared) evidence.Moments {
		m := of.Moments
		m.Mean -= slow[c.B].by*(of.Busy[1]-middle) - slow[c.A].by*(of.Busy[0]-middle)
		return m
	}
	var sizes sizes
	for i := range cells {
		if c := &cells[i]; c.Like.N >= lasting && c.Unlike.N >= lasting {
			each := (1/c.Replicas[0] + 1/c.Replicas[1]) * (1/c.Like.N + 1/c.Unlike.N)
			sizes.add(c.Sizes, corrected(c, &c.Unlike).Mean-corrected(c, &c.Like).Mean, x.spread*lasting*each)
		}
	}
	lost := 0.0
	for i := range cells {
		c := &cells[i]
		m := corrected(c, &c.Like)
		if x.known || !sizes.matter() {
			m = m.Merge(corrected(c, &c.Unlike))
		} else {
			lost += c.Unlike.N
		}
		if m.N <= 0 {
			continue
		}
		x.pairs = append(x.pairs, pair{
			a: c.A, b: c.B, ratio: -m.Mean, over: m.Squares / max(m.N-1, 1), hours: m.N, replicas: c.Replicas,
			slope: -c.Slope.Mean, weight: c.Slope.Weight, squares: c.Slope.Squares, days: c.Slope.Days,
		})
	}
	if x.hours -= lost; x.held == "" && x.hours < s.MinHours && lost > 0 {
		x.held = SizesUnlike
	}
}

// check holds back what one workload by itself shows to mislead.
func (x *workload) check(usual float64, s *Settings) {
	switch {
	case x.held != "":
	case x.throttled > s.MaxThrottled:
		x.held = Throttled
	case x.hours < s.MinHours:
		x.held = TooFewHours
	case slices.ContainsFunc(x.kinds, func(k spread) bool { return k.above(usual) }):
		x.held = ReplicasUnlike
	case x.days < s.MinDays && !x.known:
		x.held = LoadSteady
	}
}

// busyMean returns how busy nodes are on average.
func busyMean(e *evidence.Evidence) float64 {
	sum, weight := 0.0, 0.0
	for _, key := range sorted(e.Workloads) {
		w := e.Workloads[key]
		for i := range w.Cells {
			c := &w.Cells[i]
			for _, x := range [2]*evidence.Compared{&c.Like, &c.Unlike} {
				sum += (x.Busy[0] + x.Busy[1]) / 2 * x.N
				weight += x.N
			}
		}
	}
	if weight == 0 {
		return 0
	}
	return sum / weight
}

// median returns the median of numbers, which it sorts; 0 without any.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	slices.Sort(numbers)
	return (numbers[(len(numbers)-1)/2] + numbers[len(numbers)/2]) / 2
}
