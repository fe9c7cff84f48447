package pace

import (
	"math"
	"time"
)

// slack is for what is exactly the dead band, but for the rounding of floats.
const slack = 1e-9

// within tells whether a target is in the dead band of a ratio.
func (s Settings) within(target, ratio float64) bool {
	return math.Abs(target/ratio-1) <= s.DeadBand+slack
}

// step is the ratio one step nearer to the target, or there.
func (s Settings) step(ratio, target float64, since time.Duration) float64 {
	most := math.Pow(1+max(s.MaxStepPerHour, 0), min(since.Hours(), 1))
	return min(max(ratio/most, target), ratio*most)
}
