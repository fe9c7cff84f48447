package estimate

import (
	"math"

	"github.com/workload-resizer/workload-resizer/internal/student"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// zoneDiffers is how much the ratio of a type differs between zones if nothing shows it: a standard deviation.
const zoneDiffers = 0.1

// zonal is how the logarithm of the ratio of a type to the baseline deviates in a zone, by two halves of the workloads and both, with the variance
// of both.
type zonal struct {
	zone         int
	halves       [2]float64
	mean, spread float64
}

// zonesOf returns, by type, the factor between the zones in which its ratio to the baseline is the largest and the smallest, as far as it is
// certain: 1 if the zones may be alike. Chance, a few nodes or one workload do not make it certain.
func zonesOf(e *evidence.Evidence, base int, n *nodes, latest int64, s *Settings) []float64 {
	byType := make([][]zonal, len(e.Types))
	for zone := range e.Zones {
		zoneOf(e, zone, base, n, latest, byType)
	}
	deviations := student.Quantile(s.Confidence, n.freedom)
	factors := make([]float64, len(e.Types))
	for t, all := range byType {
		most := 0.0
		for i := range all {
			for j := range all[:i] {
				a, b := &all[i], &all[j]
				// The mean of all zones is 0, so that one is high where another is low.
				chance := deviations * (math.Sqrt(a.spread) + math.Sqrt(b.spread))
				most = max(most, certain(a.mean-b.mean, chance, [2]float64{a.halves[0] - b.halves[0], a.halves[1] - b.halves[1]}))
			}
		}
		factors[t] = math.Exp(most)
	}
	return factors
}

// certain returns how much of a difference is certain: what is left of it less chance, if each half of the workloads shows as much by itself.
func certain(difference, chance float64, halves [2]float64) float64 {
	if difference < 0 {
		difference, halves = -difference, [2]float64{-halves[0], -halves[1]}
	}
	return max(min(difference-chance, halves[0], halves[1]), 0)
}

// zoneOf adds a zone to the types that it compares with the baseline. All its types are solved together, drawn toward no difference.
func zoneOf(e *evidence.Evidence, zone, base int, n *nodes, latest int64, byType [][]zonal) {
	var right [3][]float64 // Two halves, and both.
	var information [3]matrix
	for h := range right {
		right[h], information[h] = make([]float64, len(e.Types)), newMatrix(len(e.Types))
		for t := range e.Types {
			information[h].set(t, t, 1/(zoneDiffers*zoneDiffers))
		}
	}
	found := make([]bool, len(e.Types))
	for i := range e.Places {
		p := &e.Places[i]
		if p.Zone != zone {
			continue
		}
		for half, d := range p.Halves {
			if d.Weight <= 0 {
				continue
			}
			found[p.A], found[p.B] = true, true
			known := d.Weight * evidence.Decay(latest-p.Last) / lasting
			for _, h := range [2]int{half, 2} {
				information[h].add(p.A, p.A, known)
				information[h].add(p.B, p.B, known)
				information[h].add(p.A, p.B, -known)
				information[h].add(p.B, p.A, -known)
				right[h][p.B] -= known * d.Mean() // More CPU usage is a smaller ratio.
				right[h][p.A] += known * d.Mean()
			}
		}
	}
	if base < 0 || !found[base] {
		return
	}
	for h := range right {
		information[h].factor()
		information[h].solve(right[h])
	}
	inverse := information[2].invert()
	for t := range e.Types {
		if t == base || !found[t] {
			continue
		}
		d := func(h int) float64 { return right[h][t] - right[h][base] }
		spread := inverse.at(t, t) + inverse.at(base, base) - 2*inverse.at(t, base)
		spread += n.variance * (n.kinds[t].sharesIn(zone) + n.kinds[base].sharesIn(zone))
		byType[t] = append(byType[t], zonal{zone: zone, halves: [2]float64{d(0), d(1)}, mean: d(2), spread: spread})
	}
}
