package estimate

import (
	"maps"
	"math"
)

// leastDeviation is the share of the median that counts as deviation where scores
// deviate less: as much as repeated runs of one machine do at best. Without it,
// where most scores are equal by chance or by rounding, any other would be an
// outlier.
const leastDeviation = 0.001

// outliers are the scores that are farther from the median than so many
// deviations; there are none of fewer scores than from. Of fewer machines than
// from, none is dropped as a whole: which of them are the odd ones cannot be told.
func (s scores) outliers(perMachine map[string]int, settings *Settings) map[score]bool {
	if len(s) < settings.OutliersFrom {
		return nil
	}
	centre := s.median(perMachine)
	limit := settings.OutlierDeviations * max(s.deviation(centre, perMachine), leastDeviation*centre)
	outliers, dropped := make(map[score]bool), make(map[string]int)
	for _, x := range s {
		if math.Abs(x.value-centre) > limit {
			outliers[x] = true
			dropped[x.machine]++
		}
	}
	if len(perMachine) < settings.OutliersFrom {
		maps.DeleteFunc(outliers, func(x score, _ bool) bool { return dropped[x.machine] == perMachine[x.machine] })
	}
	return outliers
}
