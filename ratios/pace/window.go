package pace

import "time"

var epoch = time.Unix(0, 0).UTC()

// NextWindow returns when the current window ends and can be judged.
func (s Settings) NextWindow(now time.Time) time.Time { return s.windowEnd(now).Add(s.window()) }

func (s Settings) window() time.Duration { return max(s.Window, time.Second) }

// windowEnd returns the end of the last window that is over.
func (s Settings) windowEnd(now time.Time) time.Time {
	since := now.Sub(epoch)
	over := since % s.window()
	if over < 0 {
		over += s.window()
	}
	return epoch.Add(since - over)
}

// Due reports whether the last window that ended before now must still be judged. judged is the
// end of the window that was judged last; zero if there is none.
func (s Settings) Due(judged, now time.Time) bool {
	_, due := s.elapsed(judged, s.windowEnd(now))
	return due
}

// elapsed returns the time that a step at the end of a window accounts for, and whether that
// window must be judged. If a clock was wrong, the window judged last may be far in the future,
// which must not stop judgments until then.
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
