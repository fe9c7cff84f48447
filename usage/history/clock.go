package history

import "time"

// rewind corrects a history whose newest sample lies in the future: the clock was ahead when it was
// recorded. That sample then counts as of now, so that new samples count, too, and the history can
// expire.
func (r *record) rewind(now time.Time) {
	for _, s := range r.types {
		ahead := s.heard.Sub(now)
		if ahead <= Skew {
			continue
		}
		ahead++ // The newest sample then is older than one of now.
		back := func(times ...*time.Time) {
			for _, at := range times {
				if at.After(now) {
					*at = at.Add(-ahead)
				}
			}
		}
		back(&s.first, &s.last, &s.heard)
		s.cpu.Move(-ahead)
		s.memory.Move(-ahead)
		s.throttled.Move(-ahead)
		if s.pressed != nil {
			s.pressed.Move(-ahead)
		}
		if s.week != nil {
			s.week.forgetAfter(hourOf(now))
		}
		for _, w := range r.windows {
			if w.series == s {
				w.move(-ahead)
				back(&w.memory, &w.killed)
				for i := range w.cpu {
					back(&w.cpu[i].from, &w.cpu[i].until, &w.cpu[i].hole.from, &w.cpu[i].hole.until)
				}
			}
		}
	}
	for i := range r.hours {
		r.hours[i].rewind(now)
	}
}

// move moves the windows of memory with the weights of their peaks, even those of pods whose samples were
// never ahead: a peak is subtracted with the weight that it has.
func (w *window) move(by time.Duration) {
	for _, s := range []*span{&w.span, &w.past} {
		if !s.end.IsZero() {
			s.end = s.end.Add(by)
		}
	}
}
