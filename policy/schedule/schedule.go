package schedule

import "time"

// Schedule is the windows in which resizes may happen. Without windows, they may always happen.
type Schedule []Window

// Contains reports whether a time is within one of the windows.
func (s Schedule) Contains(t time.Time) bool {
	for _, w := range s {
		if w.Contains(t) {
			return true
		}
	}
	return len(s) == 0
}

// Next returns when the first of the windows opens; zero if one is open, or if there are none.
func (s Schedule) Next(t time.Time) (first time.Time) {
	if s.Contains(t) {
		return time.Time{}
	}
	for _, w := range s {
		if next := w.Next(t); first.IsZero() || next.Before(first) {
			first = next
		}
	}
	return first
}
