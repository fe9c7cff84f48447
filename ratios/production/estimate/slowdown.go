package estimate

import "github.com/workload-resizer/workload-resizer/ratios/production/evidence"

// slowdown is by how much the logarithm of CPU usage grows when others keep the whole node busy, and its variance.
type slowdown struct{ by, variance float64 }

const (
	// slowdownPrior is the standard deviation of slowdowns: threads that share a core rarely take more than twice the
	// time. slowdownTypes is by how much those of types differ.
	slowdownPrior, slowdownTypes = 0.5, 0.1
)

// slowdowns returns the slowdown of each type: what its replicas show, drawn toward that of all types, which
// is drawn toward none. Busy nodes may be slow for another reason, so that few nodes tell little, for however long they
// were seen.
func slowdowns(e *evidence.Evidence, n *nodes) []slowdown {
	slow := make([]slowdown, len(e.Types))
	sum, weight := 0.0, 1/(slowdownPrior*slowdownPrior)
	for i := range slow {
		if x := e.Slowdown[i]; x.Squares > 0 {
			// The sums are per variance between replicas.
			variance := (lasting + n.variance*x.Count/max(float64(n.kinds[i].count), 1)) / x.Squares
			slow[i] = slowdown{x.Products / x.Squares, variance}
			part := 1 / (variance + slowdownTypes*slowdownTypes)
			sum += part * slow[i].by
			weight += part
		}
	}
	common := slowdown{sum / weight, 1 / weight}
	for i := range slow {
		if e.Slowdown[i].Squares == 0 {
			slow[i] = slowdown{common.by, common.variance + slowdownTypes*slowdownTypes}
			continue
		}
		own := slowdownTypes * slowdownTypes / (slow[i].variance + slowdownTypes*slowdownTypes)
		slow[i] = slowdown{common.by + own*(slow[i].by-common.by), own*slow[i].variance + (1-own)*(1-own)*common.variance}
	}
	return slow
}
