package estimate

import (
	"math"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// spread is the variance between the replicas of a type in the same hour.
type spread struct {
	kind            int
	variance, hours float64
	// freedom is the degrees of freedom of the variance: a replica counts again as often as its deviation changes.
	freedom float64
}

// spreadsOf returns the spreads of all types. The replicas of a type are in several cells.
func spreadsOf(cells []evidence.Cell) []spread {
	var all []spread
	for i := range cells {
		c := &cells[i]
		hours := c.Hours()
		if hours == 0 {
			hours = movedHours * c.Apart.N
		}
		if hours == 0 {
			continue
		}
		for side, kind := range [2]int{c.A, c.B} {
			at := slices.IndexFunc(all, func(k spread) bool { return k.kind == kind })
			if at < 0 {
				at = len(all)
				all = append(all, spread{kind: kind})
			}
			k := &all[at]
			k.hours += hours
			k.variance += (c.Spread[side] - k.variance) * hours / k.hours
			k.freedom = max(k.freedom, (c.Replicas[side]-1)*hours/lasting)
		}
	}
	return all
}

// pooled returns the variance of all types together.
func pooled(all []spread) float64 {
	sum, freedom := 0.0, 0.0
	for _, k := range all {
		sum += k.variance * k.freedom
		freedom += k.freedom
	}
	return sum / max(freedom, 1e-9)
}

// above reports whether a spread is far above the usual one. One replica of a type that differs from all others is
// enough for it.
func (k *spread) above(usual float64) bool {
	const unlike, deviations = 2, 4
	return k.variance > usual*(unlike+deviations*math.Sqrt(2/max(k.freedom, 1)))
}
