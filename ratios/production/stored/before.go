package stored

import (
	"maps"
	"slices"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// divide divides the cores of a workload between its types by replicas: older forms have those of all replicas together, also of those that are not
// compared. They weigh as much as a day, so that the next days correct them.
func divide(w *evidence.Workload, cores float64) {
	const day = 24
	replicas, together, apart := map[int]float64{}, map[int]float64{}, 0.0
	for i := range w.Cells {
		c := &w.Cells[i]
		for side, kind := range [2]int{c.A, c.B} {
			replicas[kind] = max(replicas[kind], c.Replicas[side])
			if c.Hours() > 0 {
				together[kind] = max(together[kind], c.Replicas[side])
			}
			apart = max(apart, c.Replicas[side])
		}
	}
	each := cores / max(sumOf(replicas), 1)
	for i := range w.Cells {
		c := &w.Cells[i]
		c.Uses = evidence.Uses{N: day, Cores: [2]float64{each * replicas[c.A], each * replicas[c.B]}}
	}
	// Replicas on types that were compared only on different days did not run together.
	w.Each = cores / max(sumOf(together), apart, 1)
}

// sumOf returns the sum of the replicas of all types.
func sumOf(replicas map[int]float64) float64 {
	sum := 0.0
	for _, kind := range slices.Sorted(maps.Keys(replicas)) {
		sum += replicas[kind]
	}
	return sum
}
