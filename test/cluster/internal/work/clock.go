package work

import "time"

// Clock is the clock of the work, which may show other times than the clocks on the wall, and
// run faster.
type Clock struct {
	// When the clock on the wall shows Wall, this one shows Shows.
	Wall  time.Time `json:"wall"`
	Shows time.Time `json:"shows"`
	// Scale is how many times faster this clock is. 0 means as fast as the one on the wall.
	Scale float64 `json:"scale,omitempty"`
}

// At returns what the clock shows at a time of the clock on the wall.
func (c Clock) At(wall time.Time) time.Time { return c.Shows.Add(c.Span(wall.Sub(c.Wall))) }

// Span returns how much time passes on this clock in a time on the wall.
func (c Clock) Span(elapsed time.Duration) time.Duration {
	if c.Scale == 0 {
		return elapsed
	}
	return time.Duration(float64(elapsed) * c.Scale)
}
