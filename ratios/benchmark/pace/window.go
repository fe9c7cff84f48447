package pace

import "time"

var epoch = time.Unix(0, 0).UTC()

// NextWindow returns when the window that now is in ends, to be judged.
func (s Settings) NextWindow(now time.Time) time.Time { return s.windowEnd(now).Add(s.window()) }

func (s Settings) window() time.Duration { return max(s.Window, time.Second) }

// windowEnd is the end of the last window that is over.
func (s Settings) windowEnd(now time.Time) time.Time {
	since := now.Sub(epoch)
	over := since % s.window()
	if over < 0 {
		over += s.window()
	}
	return epoch.Add(since - over)
}

// Due tells whether the window that ended last before now is still to be judged,
// where the one that ended at the other time was judged last; zero if none was.
func (s Settings) Due(judged, now time.Time) bool {
	_, due := s.elapsed(judged, s.windowEnd(now))
	return due
}

// elapsed is the time that a step at the end of a window is for, and whether that
// is to be judged after the one judged last. The last one may be far ahead if a
// clock was wrong: that must not stop everything until then.
func (s Settings) elapsed(judged, end time.Time) (since time.Duration, judge bool) {
	since = end.Sub(judged)
	switch {
	case since > 0 && !judged.IsZero():
		return since, true
	case judged.IsZero() || -since > s.window():
		return s.window(), true
	}
	return 0, false
}
