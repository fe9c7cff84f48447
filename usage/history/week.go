package history

import "time"

// hoursOfWeek is how many hours a week has.
const hoursOfWeek = 168

// week has the peaks of the last week, per hour.
type week struct {
	// hour is when each peak was measured, in hours since 1970.
	hour        [hoursOfWeek]int64
	cpu, memory [hoursOfWeek]int64
}

// forgetAfter forgets the peaks after an hour.
func (w *week) forgetAfter(hour int64) {
	for i := range w.hour {
		if w.hour[i] > hour {
			w.hour[i], w.cpu[i], w.memory[i] = 0, 0, 0
		}
	}
}

// hour notes the usage in its hour of the week.
func (s *series) hour(resource Resource, at time.Time, usage int64) {
	if s.week == nil {
		s.week = &week{}
	}
	hour := hourOf(at)
	i := hour % hoursOfWeek
	switch {
	case hour < s.week.hour[i]:
		return
	case hour > s.week.hour[i]:
		s.week.hour[i], s.week.cpu[i], s.week.memory[i] = hour, 0, 0
	}
	if resource == CPU {
		s.week.cpu[i] = max(s.week.cpu[i], usage)
	} else {
		s.week.memory[i] = max(s.week.memory[i], usage)
	}
}
