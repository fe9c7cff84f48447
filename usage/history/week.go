package history

import "time"

// HoursOfWeek is how many hours a week has.
const HoursOfWeek = 168

// Week has the peaks of the last week, per hour.
type Week struct {
	// Hour is when each peak was measured, in hours since 1970.
	Hour        [HoursOfWeek]int64
	CPU, Memory [HoursOfWeek]int64
}

// forgetAfter forgets the peaks after an hour.
func (w *Week) forgetAfter(hour int64) {
	for i := range w.Hour {
		if w.Hour[i] > hour {
			w.Hour[i], w.CPU[i], w.Memory[i] = 0, 0, 0
		}
	}
}

// hour notes the usage in its hour of the week.
func (s *Series) hour(resource Resource, at time.Time, usage int64) {
	if s.Week == nil {
		s.Week = &Week{}
	}
	hour := hourOf(at)
	i := hour % HoursOfWeek
	switch {
	case hour < s.Week.Hour[i]:
		return
	case hour > s.Week.Hour[i]:
		s.Week.Hour[i], s.Week.CPU[i], s.Week.Memory[i] = hour, 0, 0
	}
	if resource == CPU {
		s.Week.CPU[i] = max(s.Week.CPU[i], usage)
	} else {
		s.Week.Memory[i] = max(s.Week.Memory[i], usage)
	}
}
