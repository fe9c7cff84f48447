package pace

import (
	"math"
	"time"
)

// slack allows for float rounding if a difference equals the dead band.
const slack = 1e-9

// within reports whether a target is in the dead band of a ratio.
func (s Settings) within(target, ratio float64) bool {
	return math.Abs(target/ratio-1) <= s.DeadBand+slack
}

// step returns the ratio after one step toward the target, which it does not pass.
func (s Settings) step(ratio, target float64, since time.Duration) float64 {
	most := math.Pow(1+max(s.MaxStepPerHour, 0), min(since.Hours(), 1))
	return min(max(ratio/most, target), ratio*most)
}
