package estimate

import (
	"math"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// slowdown is by how much the logarithm of CPU usage grows when others keep the whole node busy, and its variance.
type slowdown struct{ by, variance float64 }

const (
	// slowdownPrior is the standard deviation of slowdowns: threads that share a core rarely take more than twice the
	// time. slowdownTypes is by how much those of types differ, where too few types tell. It counts as much as slowdownWeight types.
	slowdownPrior, slowdownTypes, slowdownWeight = 0.5, 0.1, 3
	// mostSlowdown is the largest slowdown that differences are corrected by: the mean of workloads whose threads share their cores all the
	// time. A larger one, or one below 0, has another cause, such as the pods of somebody who lets them look like that.
	mostSlowdown = 0.5
)

// slowdowns returns the slowdown of each type: what its replicas show, drawn toward that of all types, which
// is drawn toward none. Busy nodes may be slow for another reason, so that few nodes tell little, for however long they
// were seen.
func slowdowns(e *evidence.Evidence, n *nodes) []slowdown {
	slow := make([]slowdown, len(e.Types))
	for i := range slow {
		if i < len(e.Slowdown) && e.Slowdown[i].Squares > 0 {
			x := e.Slowdown[i]
			// The sums are per variance between replicas.
			slow[i] = slowdown{x.Products / x.Squares, (lasting + n.variance*x.Count/max(float64(n.kinds[i].seen), 1)) / x.Squares}
		} else {
			slow[i].variance = math.Inf(1)
		}
	}
	common, differ := commonOf(slow)
	for i, own := range slow {
		if part := differ / (own.variance + differ); part > 0 {
			slow[i] = slowdown{common.by + part*(own.by-common.by), part*own.variance + (1-part)*(1-part)*common.variance}
		} else {
			slow[i] = slowdown{common.by, common.variance + differ}
		}
		slow[i].by = min(max(slow[i].by, 0), mostSlowdown)
	}
	return slow
}

// commonOf returns the mean slowdown, and the variance of types around it.
func commonOf(slow []slowdown) (common slowdown, differ float64) {
	differ = slowdownTypes * slowdownTypes
	for range 10 {
		sum, weight := 0.0, 1/(slowdownPrior*slowdownPrior)
		for _, x := range slow {
			sum += x.by / (x.variance + differ)
			weight += 1 / (x.variance + differ)
		}
		common = slowdown{sum / weight, 1 / weight}
		// The deviation of a type is known in part: its expected square has the variance of the rest.
		squares, types := slowdownWeight*slowdownTypes*slowdownTypes, float64(slowdownWeight)
		for _, x := range slow {
			if part := differ / (x.variance + differ); part > 0 {
				squares += part*part*(x.by-common.by)*(x.by-common.by) + part*x.variance
				types++
			}
		}
		differ = squares / types
	}
	return common, differ
}
