package estimate

import (
	"math"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// sizes shows if replicas with larger requests do more of the work: it is the regression of how differences between
// types changed when sizes became unlike, on the differences between the sizes.
type sizes struct{ squares, products float64 }

// add adds a pair of types: the difference between the logarithms of the sizes, the change, and its variance.
func (x *sizes) add(sizes, change, variance float64) {
	variance = max(variance, 1e-6)
	x.squares += sizes * sizes / variance
	x.products += sizes * change / variance
}

// sizesOf returns what the cells of a workload show.
func sizesOf(cells []evidence.Cell, spread float64, slow []slowdown) sizes {
	var x sizes
	for i := range cells {
		c := &cells[i]
		if c.Change.Hours < lasting {
			continue
		}
		change := c.Change.Mean
		for side, t := range [2]int{c.A, c.B} {
			if a, b := c.Like.Busy[side], c.Unlike.Busy[side]; a >= 0 && b >= 0 && c.Like.N > 0 && c.Unlike.N > 0 {
				change -= float64(2*side-1) * slow[t].by * (b - a) // Different sizes pack nodes in another way.
			}
		}
		// It is compared with at least half as many hours.
		x.add(c.Change.Sizes, change, spread*lasting*(1/c.Replicas[0]+1/c.Replicas[1])*3/c.Change.Hours)
	}
	return x
}

// The work of a replica grows with a power of its size: about 0 where load balancers do not know sizes, and about 0.5
// where they, or queues of requests, follow them. Usually is how many workloads follow sizes where too few show it, and counts as
// usuallyWeight workloads. It is improbable enough that sizes matter to a workload if its probability is below improbable.
const (
	never, neverVaries     = 0.0, 0.05
	follow, followVary     = 0.5, 0.3
	usually, usuallyWeight = 0.2, 5
	improbable             = 0.1
)

// matter returns the probability that sizes matter to a workload, if a share of all workloads follows sizes.
func (x *sizes) matter(share float64) float64 {
	if x.squares == 0 {
		return share
	}
	power, variance := x.products/x.squares, 1/x.squares
	yes := share * density(power-follow, variance+followVary*followVary)
	no := (1 - share) * density(power-never, variance+neverVaries*neverVaries)
	if yes+no == 0 {
		return 1
	}
	return yes / (yes + no)
}

// enoughTeach returns how many workloads must show that sizes do not matter to them, so that this is so improbable for others. None of them
// shows it with certainty.
func enoughTeach() float64 { return math.Ceil(1.5 * usuallyWeight * (usually/improbable - 1)) }

// density returns the density of the normal distribution, without a constant factor.
func density(x, variance float64) float64 { return math.Exp(-x*x/(2*variance)) / math.Sqrt(variance) }

// following returns the share of workloads to which sizes matter, and the mean of its square: it is not known exactly. A workload teaches as
// much as it is certain that it does not mislead: what a queue's consumers use does not change with their sizes, whatever others do.
func following(all []workload) (share, squared float64) {
	share = usually
	count := 0.0
	for range 30 {
		sum := usually * usuallyWeight
		count = usuallyWeight
		for i := range all {
			if w := &all[i]; w.teaches > 0 && w.sizes.squares > 0 {
				sum += w.votes * w.teaches * w.sizes.matter(share)
				count += w.votes * w.teaches
			}
		}
		share = sum / count
	}
	return share, share*share + share*(1-share)/(count+1)
}

// merge adds the hours with unlike sizes to the pairs of workloads to which sizes do not matter. For ratios that are only shown, that also goes for
// workloads with few other hours to which they probably do not matter. It returns whether there are any.
func merge(all []workload, of use, s *Settings) bool {
	share, squared := following(all)
	merged := false
	for i := range all {
		w := &all[i]
		matter := w.sizes.matter(share)
		sure := matter < improbable
		if len(w.unlike) == 0 || !sure && (of == judged || matter >= 0.5 || w.hours >= s.MinHours) {
			continue
		}
		merged = true
		for _, p := range w.unlike {
			w.add(p)
		}
		if !sure {
			w.unsure = math.Sqrt(squared)
		}
		w.unlike, w.merged = nil, true
	}
	return merged
}

// off returns, by type, by how much its speed is off if as many workloads follow sizes as there may be of those that count although nothing
// shows whether they do.
func (m *model) off() []float64 {
	information, off := m.information(1, func(w *workload, p *pair) float64 { return w.unsure * follow * p.sizes })
	information.factor()
	information.solve(off)
	return off
}
