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
// is drawn toward none.
func slowdowns(e *evidence.Evidence) []slowdown {
	const noise = lasting // The sums are per variance between replicas.
	squares, products := 0.0, 0.0
	for _, x := range e.Slowdown {
		squares += x.Squares
		products += x.Products
	}
	common := products / (squares + noise/(slowdownPrior*slowdownPrior))
	uncertain := 1 / (squares/noise + 1/(slowdownPrior*slowdownPrior))
	own := noise / (slowdownTypes * slowdownTypes)
	slow := make([]slowdown, len(e.Types))
	for i := range slow {
		var x evidence.Slowdown
		if i < len(e.Slowdown) {
			x = e.Slowdown[i]
		}
		drawn := own / (x.Squares + own)
		slow[i] = slowdown{(x.Products + own*common) / (x.Squares + own), noise/(x.Squares+own) + drawn*drawn*uncertain}
	}
	return slow
}
