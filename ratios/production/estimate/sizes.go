package estimate

import "math"

// sizes shows if replicas with larger requests do more of the work: it is the regression of how a difference between
// types changed while sizes were unlike, on the difference between the sizes.
type sizes struct{ squares, products float64 }

// add adds a pair of types: the difference between the logarithms of the sizes, the change, and its variance.
func (x *sizes) add(sizes, change, variance float64) {
	variance = max(variance, 1e-6)
	x.squares += sizes * sizes / variance
	x.products += sizes * change / variance
}

// matter reports whether sizes may matter: it is not improbable enough that they do. The work of a replica grows with
// a power of its size: about 0 where load balancers do not know sizes, and about 0.5 where they, or queues of
// requests, follow them.
func (x *sizes) matter() bool {
	const (
		never, neverVaries  = 0.0, 0.05
		follow, followVary  = 0.5, 0.3
		usually, improbable = 0.2, 0.1
	)
	if x.squares == 0 {
		return true
	}
	power, variance := x.products/x.squares, 1/x.squares
	yes := usually * density(power-follow, variance+followVary*followVary)
	no := (1 - usually) * density(power-never, variance+neverVaries*neverVaries)
	return !(yes < improbable*(yes+no))
}

// density returns the density of the normal distribution, without a constant factor.
func density(x, variance float64) float64 { return math.Exp(-x*x/(2*variance)) / math.Sqrt(variance) }
