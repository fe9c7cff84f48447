package history

import "time"

// rewind corrects a history whose newest sample lies in the future: the clock was ahead when it was
// recorded. That sample then counts as of now, so that new samples count, too, and the history can
// expire.
func (r *State) rewind(now time.Time) {
	for _, s := range r.Types {
		for i := range s.Hours {
			s.Hours[i].rewind(now)
		}
		ahead := s.Heard.Sub(now)
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
		back(&s.First, &s.Last, &s.Heard)
		s.CPU.Move(-ahead)
		s.Memory.Move(-ahead)
		s.Throttled.Move(-ahead)
		if s.Pressed != nil {
			s.Pressed.Move(-ahead)
		}
		s.Steady.move(-ahead)
		if s.Steady != nil {
			back(&s.Steady.CPUSince, &s.Steady.MemorySince)
		}
		s.Floors.rewind(now)
		s.Peaks.rewind(now)
		s.rewindRuns(now)
		if s.Week != nil {
			s.Week.forgetAfter(hourOf(now))
		}
		for _, w := range r.Windows {
			if w.series == s {
				w.move(-ahead)
				back(&w.Memory, &w.Killed)
				w.own.rewind(now)
				w.slots = nil
				for i := range w.CPU {
					back(&w.CPU[i].From, &w.CPU[i].Until, &w.CPU[i].Hole.From, &w.CPU[i].Hole.Until)
				}
			}
		}
	}
}

// move moves the windows of memory with the weights of their peaks, even those of pods whose samples were
// never ahead: a peak is subtracted with the weight that it has.
func (w *Window) move(by time.Duration) {
	for _, s := range []*Span{&w.Span, &w.Past} {
		if !s.End.IsZero() {
			s.End = s.End.Add(by)
		}
	}
}
