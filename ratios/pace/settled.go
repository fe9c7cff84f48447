package pace

import "time"

// Settled returns the state after so many windows that the ratio no longer changes, if the inputs stay as they are.
func Settled(s State, in Input, now time.Time, settings Settings) State {
	for unchanged := 0; unchanged <= max(settings.Windows, 1); unchanged++ {
		now = settings.NextWindow(now)
		next := Next(s, in, now, settings)
		if next.Ratio != s.Ratio {
			unchanged = 0
		}
		s = next
	}
	return s
}
