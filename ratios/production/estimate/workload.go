package estimate

import (
	"cmp"
	"maps"
	"math"
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
	// spread is the variance between replicas of one type, and freedom how many replicas, less one per type, tell it.
	spread, freedom float64
	hours, days     float64
	held            Reason
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

// each is the variance of the mean of all replicas' deviations in an hour, per variance between replicas.
func (p *pair) each() float64 { return 1/p.replicas[0] + 1/p.replicas[1] }

// workloads returns the workloads by key, and corrects their differences by how busy their nodes were.
func workloads(e *evidence.Evidence, s *Settings) ([]workload, []slowdown) {
	keys := slices.SortedFunc(maps.Keys(e.Workloads), func(a, b evidence.Key) int { return cmp.Compare(a, b) })
	all := make([]workload, 0, len(keys))
	var spreads []float64
	for _, key := range keys {
		w := e.Workloads[key]
		x := workload{key: key, cores: coresOf(w), known: w.Known, honest: 1}
		if w.Pulls && !w.Known {
			x.held = Pulls
		}
		for i := range w.Cells {
			c := &w.Cells[i]
			if n := c.Hours(); n > 0 {
				x.spread += c.Spread * n
				x.freedom += (c.Replicas[0] + c.Replicas[1] - 2) * n
				x.hours += n
				x.days = max(x.days, c.Slope.Days)
			}
		}
		if x.hours > 0 {
			x.spread /= x.hours
			x.freedom *= 1 / lasting
			spreads = append(spreads, x.spread)
		}
		all = append(all, x)
	}
	usual := median(spreads)
	slow := slowdowns(e, usual)
	middle := busyMean(e)
	for i := range all {
		x := &all[i]
		x.compare(e.Workloads[x.key].Cells, slow, middle)
		x.check(usual, s)
	}
	return all, slow
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
func (x *workload) compare(cells []evidence.Cell, slow []slowdown, middle float64) {
	for i := range cells {
		c := &cells[i]
		hours, m := c.Hours(), c.Like.Merge(c.Unlike)
		switch matter, tell := sizesMatter(c); {
		case !tell && !x.known && x.held == "":
			x.held = SizesUnlike
			continue
		case matter:
			hours, m = c.Like.N, c.Like
		}
		if hours <= 0 {
			continue
		}
		busy := slow[c.B].by*(c.Busy[1]-middle) - slow[c.A].by*(c.Busy[0]-middle)
		p := x.pair(c.A, c.B)
		part := hours / (p.hours + hours)
		p.hours += hours
		p.ratio += part * (busy - m.Mean - p.ratio)
		p.over += part * (m.Squares/max(m.N-1, 1) - p.over)
		for side := range 2 {
			p.replicas[side] += part * (c.Replicas[side] - p.replicas[side])
		}
		if c.Slope.Weight > 0 {
			p.weight += c.Slope.Weight
			p.slope += (-c.Slope.Mean - p.slope) * c.Slope.Weight / p.weight
			p.squares += c.Slope.Squares
			p.days += c.Slope.Days
		}
	}
}

func (x *workload) pair(a, b int) *pair {
	for i := range x.pairs {
		if p := &x.pairs[i]; p.a == a && p.b == b {
			return p
		}
	}
	x.pairs = append(x.pairs, pair{a: a, b: b})
	return &x.pairs[len(x.pairs)-1]
}

// sizesMatter reports whether replicas with unlike sizes do unlike shares of the work, and whether the evidence can tell.
func sizesMatter(c *evidence.Cell) (matter, tell bool) {
	if c.Unlike.N < lasting {
		return c.Unlike.N > 0 && c.Like.N > c.Unlike.N, true
	}
	if c.Like.N < lasting {
		return false, false
	}
	variance := c.Spread * (1/c.Replicas[0] + 1/c.Replicas[1]) * lasting * (1/c.Like.N + 1/c.Unlike.N)
	difference := math.Abs(c.Like.Mean - c.Unlike.Mean)
	return difference > 0.02 && difference > 2.5*math.Sqrt(variance), true
}

// check holds back what one workload by itself shows to mislead.
func (x *workload) check(usual float64, s *Settings) {
	const unlike, deviations = 2, 4
	switch {
	case x.held != "":
	case x.hours < s.MinHours:
		x.held = TooFewHours
	case x.spread > usual*(unlike+deviations*math.Sqrt(2/max(x.freedom, 1))):
		x.held = ReplicasUnlike
	case x.days < s.MinDays && !x.known:
		x.held = LoadSteady
	}
}

// busyMean returns how busy nodes are on average.
func busyMean(e *evidence.Evidence) float64 {
	sum, weight := 0.0, 0.0
	for _, w := range e.Workloads {
		for i := range w.Cells {
			c := &w.Cells[i]
			sum += (c.Busy[0] + c.Busy[1]) / 2 * c.Hours()
			weight += c.Hours()
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
