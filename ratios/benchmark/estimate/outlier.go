package estimate

import (
	"maps"
	"math"
)

// outliers returns the scores that are more than OutlierDeviations away from the median. The
// deviation is machineNoise at least. A few machines may agree exactly, by chance or because of
// rounding: the others are not outliers then, and a ratio without them would seem too certain. With
// fewer scores than OutliersFrom, there are none. With fewer machines than OutliersFrom, no
// machine is dropped as a whole: it is not clear which of them are the odd ones.
func (s scores) outliers(settings *Settings) map[score]bool {
	if len(s) < settings.OutliersFrom {
		return nil
	}
	center := s.median()
	limit := settings.OutlierDeviations * max(s.deviation(center), machineNoise*center)
	outliers, dropped := make(map[score]bool), make(map[string]int)
	for _, x := range s {
		if math.Abs(x.value-center) > limit {
			outliers[x] = true
			dropped[x.machine]++
		}
	}
	if perMachine := s.perMachine(); len(perMachine) < settings.OutliersFrom {
		maps.DeleteFunc(outliers, func(x score, _ bool) bool { return dropped[x.machine] == perMachine[x.machine] })
	}
	return outliers
}
