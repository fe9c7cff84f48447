package evidence

import (
	"math"
	"slices"
)

// center fills the middles of all types: the means of their replicas, after those that are far from the median of their type
// were moved toward it. So one replica that does more than the others, such as a leader, hardly counts,
// and the middle varies as little as the mean if there is none (Winsorized means).
func center(sides []side, usage []float64) {
	// far is how many standard deviations are far, and usual a standard deviation per median distance from the median.
	const far, usual = 1.5, 1.4826
	var distances []float64
	medians := make([]float64, len(sides))
	for i := range sides {
		s := &sides[i]
		sorted := slices.Clone(s.of(usage))
		slices.Sort(sorted)
		medians[i] = median(sorted)
		correct := math.Sqrt(s.count / (s.count - 1)) // The median is near its replicas if they are few.
		for j, u := range sorted {
			if 2*j+1 != len(sorted) { // The median itself has no distance.
				distances = append(distances, correct*math.Abs(u-medians[i]))
			}
		}
	}
	slices.Sort(distances)
	bound := far * usual * median(distances)
	for i := range sides {
		s := &sides[i]
		for _, u := range s.of(usage) {
			s.middle += min(max(u, medians[i]-bound), medians[i]+bound) / s.count
		}
	}
}

// of returns the usage of its replicas.
func (s *side) of(usage []float64) []float64 { return usage[s.first : s.first+int(s.count)] }

// median returns the median of sorted numbers.
func median(sorted []float64) float64 {
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}
