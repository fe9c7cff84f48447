package estimate

import (
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/internal/student"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// zoneDiffers is how much the ratio of a type differs between zones if nothing shows it: a standard deviation.
const zoneDiffers = 0.1

// zone is how the logarithms of the speeds of the types that were compared in it deviate from those in other zones.
type zone struct {
	number int
	kinds  []int
	// speeds are those that two halves of the workloads show, and both, in the order of the types, and covariance is the one of both.
	speeds     [3][]float64
	covariance matrix
}

// zonal is how the logarithm of the ratio of a type to another deviates in a zone, by two halves of the workloads and both, with the variance
// of both.
type zonal struct {
	halves       [2]float64
	mean, spread float64
}

// certainty tells which differences between zones are certain: by how many standard deviations, of which a part is due to the nodes.
type certainty struct {
	nodes      *nodes
	deviations float64
}

// zonesOf returns, by type, the factor between the zones in which its ratio to the baseline is the largest and the smallest, as far as it is
// certain: 1 if the zones may be alike. Chance, a few nodes or one workload do not make it certain.
func zonesOf(e *evidence.Evidence, base int, n *nodes, latest int64, s *Settings) []float64 {
	sure := certainty{nodes: n, deviations: student.Quantile(s.Confidence, n.freedom)}
	byType := make([][]*zone, len(e.Types))
	for number := range e.Zones {
		z := zoneOf(e, number, latest)
		for _, t := range z.kinds {
			byType[t] = append(byType[t], z)
		}
	}
	factors := make([]float64, len(e.Types))
	for t, zones := range byType {
		most := 0.0
		for i, z := range zones {
			if !z.has(base) {
				most = max(most, sure.differsFromOthers(z, t, zones))
				continue
			}
			for _, other := range zones[:i] {
				if other.has(base) {
					most = max(most, sure.differ(z, other, t, base))
				}
			}
		}
		factors[t] = math.Exp(most)
	}
	return factors
}

// differ returns how much of the difference between the ratios of a type to another in two zones is certain.
func (c *certainty) differ(x, y *zone, t, other int) float64 {
	if t == other {
		return 0
	}
	a, b := x.against(t, other, c.nodes), y.against(t, other, c.nodes)
	// The mean of all zones is 0, so that one is high where another is low.
	chance := c.deviations * (math.Sqrt(a.spread) + math.Sqrt(b.spread))
	return certain(a.mean-b.mean, chance, [2]float64{a.halves[0] - b.halves[0], a.halves[1] - b.halves[1]})
}

// differsFromOthers returns how much a type certainly differs in a zone without the baseline. There, it is compared with all other types, and differs as
// much as from the more alike half of them: if one differs from all others, it does, and they do not. Of two types, nothing shows which one does.
func (c *certainty) differsFromOthers(x *zone, t int, zones []*zone) float64 {
	var all []float64
	for _, other := range x.kinds {
		most, compared := 0.0, false
		for _, y := range zones {
			if y != x && t != other && y.has(other) {
				most, compared = max(most, c.differ(x, y, t, other)), true
			}
		}
		if compared {
			all = append(all, most)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[(len(all)-1)/2]
}

// certain returns how much of a difference is certain: what is left of it less chance, if each half of the workloads shows as much by itself.
func certain(difference, chance float64, halves [2]float64) float64 {
	if difference < 0 {
		difference, halves = -difference, [2]float64{-halves[0], -halves[1]}
	}
	return max(min(difference-chance, halves[0], halves[1]), 0)
}

// zoneOf returns how the types of a zone deviate. All of them are solved together, drawn toward no difference.
func zoneOf(e *evidence.Evidence, number int, latest int64) *zone {
	z := &zone{number: number}
	for i := range e.Places {
		if p := &e.Places[i]; p.Zone == number && p.Halves[0].Weight+p.Halves[1].Weight > 0 {
			for _, t := range [2]int{p.A, p.B} {
				if !z.has(t) {
					z.kinds = append(z.kinds, t)
				}
			}
		}
	}
	var information [3]matrix // Two halves, and both.
	for h := range information {
		z.speeds[h], information[h] = make([]float64, len(z.kinds)), newMatrix(len(z.kinds))
		for t := range z.kinds {
			information[h].set(t, t, 1/(zoneDiffers*zoneDiffers))
		}
	}
	for i := range e.Places {
		p := &e.Places[i]
		if p.Zone != number {
			continue
		}
		a, b := slices.Index(z.kinds, p.A), slices.Index(z.kinds, p.B)
		for half, d := range p.Halves {
			if d.Weight <= 0 {
				continue
			}
			known := d.Weight * evidence.Decay(latest-p.Last) / lasting
			for _, h := range [2]int{half, 2} {
				information[h].add(a, a, known)
				information[h].add(b, b, known)
				information[h].add(a, b, -known)
				information[h].add(b, a, -known)
				z.speeds[h][b] -= known * d.Mean() // More CPU usage is a smaller ratio.
				z.speeds[h][a] += known * d.Mean()
			}
		}
	}
	for h := range information {
		information[h].factor()
		information[h].solve(z.speeds[h])
	}
	z.covariance = information[2].invert()
	return z
}

// has reports whether a type was compared in the zone.
func (z *zone) has(t int) bool { return slices.Contains(z.kinds, t) }

// against returns how the ratio of a type to another deviates in the zone, which has both.
func (z *zone) against(t, other int, n *nodes) zonal {
	a, b := slices.Index(z.kinds, t), slices.Index(z.kinds, other)
	d := func(h int) float64 { return z.speeds[h][a] - z.speeds[h][b] }
	c := &z.covariance
	spread := c.at(a, a) + c.at(b, b) - 2*c.at(a, b)
	spread += n.variance * (n.kinds[t].sharesIn(z.number) + n.kinds[other].sharesIn(z.number))
	return zonal{halves: [2]float64{d(0), d(1)}, mean: d(2), spread: spread}
}
