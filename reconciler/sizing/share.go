package sizing

import "math"

// Share returns a share of an amount, from 0 to 1, rounded up. A share that is not a number is all of it.
func Share(of int64, share float64) int64 {
	if !(share < 1) {
		return of
	}
	return min(of, int64(math.Ceil(float64(of)*max(0, share))))
}
