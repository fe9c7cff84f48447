package kernel

import (
	"math"
	"time"
)

// Pressure is the pressure stall information of one resource.
type Pressure struct {
	// Some is the time in which at least one thread waits, Full that in which all do.
	Some Stall `json:"some"`
	Full Stall `json:"full"`
}

// Stall is one line of a pressure file.
type Stall struct {
	Total time.Duration `json:"total"`
	// The averages are percentages of the last 10, 60 and 300 seconds.
	Avg10  float64 `json:"avg10"`
	Avg60  float64 `json:"avg60"`
	Avg300 float64 `json:"avg300"`
}

// add adds a tick, in which these parts of the time were stalled.
func (p *Pressure) add(elapsed time.Duration, some, full float64) {
	p.Some.add(elapsed, some)
	p.Full.add(elapsed, full)
}

func (s *Stall) add(elapsed time.Duration, part float64) {
	s.Total += times(elapsed, part)
	for _, average := range []struct {
		value  *float64
		window time.Duration
	}{{&s.Avg10, 10 * time.Second}, {&s.Avg60, time.Minute}, {&s.Avg300, 5 * time.Minute}} {
		// Exponential averages, as in the kernel.
		kept := math.Exp(-elapsed.Seconds() / average.window.Seconds())
		*average.value = *average.value*kept + 100*part*(1-kept)
	}
}
