package evidence

// Slope is how a difference changes with load. The slope of each day counts by itself: deviations of replicas last for
// hours, so that only the differences between days tell how certain the slope is.
type Slope struct {
	// Weight is the sum of the squared deviations of the load, Mean the mean slope, Squares the weighted sum of
	// the squared deviations of daily slopes from it, and Days the weight of the days.
	Weight, Mean, Squares, Days float64
	// open is the current day. It is not stored: see Closed.
	open day
}

// day has the sums of a day.
type day struct {
	number                   int64
	n, load, diff, xx, cross float64
}

const (
	// enoughHours is how many hours of a day show a slope, and enoughSwing the variance of load in it.
	enoughHours, enoughSwing = 12, 0.0025
)

func (s *Slope) add(load, difference float64, at int64) {
	if number := at / hoursPerDay; number != s.open.number {
		s.close()
		s.open = day{number: number}
	}
	o := &s.open
	o.n++
	x := load - o.load
	o.load += x / o.n
	o.diff += (difference - o.diff) / o.n
	o.xx += x * (load - o.load)
	o.cross += x * (difference - o.diff)
}

// close adds the open day.
func (s *Slope) close() {
	o := &s.open
	if o.n < enoughHours || o.xx < enoughSwing*o.n {
		return
	}
	slope := o.cross / o.xx
	s.Days++
	s.Weight += o.xx
	d := slope - s.Mean
	s.Mean += d * o.xx / s.Weight
	s.Squares += o.xx * d * (slope - s.Mean)
}

// Closed returns the slope with that of the current day, if enough hours of it are known, for the form that has no open
// day. After a restart, the rest of the day counts by itself, so that one restart a day loses no more than half a day.
func (s Slope) Closed() Slope {
	s.close()
	s.open = day{}
	return s
}

func (s *Slope) scale(by float64) { s.Weight, s.Squares, s.Days = s.Weight*by, s.Squares*by, s.Days*by }
