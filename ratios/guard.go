package ratios

import "time"

// Guard is a placeholder until the configuration lands.
type Guard struct{}

// GuardSettings holds the settings of the guard.
type GuardSettings struct {
	Enabled  bool
	Window   time.Duration
	Restarts int
	Unready  time.Duration
	Cooldown time.Duration
	Canary   float64
}

// Settings returns the settings.
func (g *Guard) Settings() GuardSettings {
	return GuardSettings{Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute, Canary: 0.1}
}
