package sizing

import "math"

// Boost raises amounts: it multiplies them by a factor, if it has one, and adds an amount. The zero value raises nothing.
type Boost struct {
	Factor Factor
	More   int64
}

// Raises reports whether the boost raises any amount.
func (b Boost) Raises() bool { return b.More > 0 || b.Factor.Num > b.Factor.Den }

// Of returns an amount as it is raised, rounded up, and at most as large as a machine may have.
func (b Boost) Of(amount, most int64) int64 {
	if b.Factor.Den != 0 {
		amount = b.Factor.Up(amount)
	}
	return min(min(amount, math.MaxInt64-b.More)+b.More, most)
}
