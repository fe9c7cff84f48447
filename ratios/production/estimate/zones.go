package estimate

import (
	"math"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// zoneDiffers is how much the ratio of a type differs between zones if nothing shows it: a standard deviation.
const zoneDiffers = 0.1

// zonesOf returns, by type, the factor between the zones in which its ratio to the baseline is the largest and the smallest. All
// types of a zone are solved together, drawn toward no difference.
func zonesOf(e *evidence.Evidence, base int, latest int64) []float64 {
	low, high := make([]float64, len(e.Types)), make([]float64, len(e.Types))
	for zone := range e.Zones {
		information, right := newMatrix(len(e.Types)), make([]float64, len(e.Types))
		for t := range e.Types {
			information.set(t, t, 1/(zoneDiffers*zoneDiffers))
		}
		found := false
		for i := range e.Places {
			p := &e.Places[i]
			if p.Zone != zone || p.Weight <= 0 {
				continue
			}
			found = true
			known := p.Weight * evidence.Decay(latest-p.Last) / lasting
			information.add(p.A, p.A, known)
			information.add(p.B, p.B, known)
			information.add(p.A, p.B, -known)
			information.add(p.B, p.A, -known)
			right[p.B] -= known * p.Mean() // More CPU usage is a smaller ratio.
			right[p.A] += known * p.Mean()
		}
		if !found {
			continue
		}
		information.factor()
		information.solve(right)
		for t := range right {
			d := right[t]
			if base >= 0 {
				d -= right[base]
			}
			low[t], high[t] = min(low[t], d), max(high[t], d)
		}
	}
	factors := make([]float64, len(e.Types))
	for t := range factors {
		factors[t] = math.Exp(high[t] - low[t])
	}
	return factors
}
