package ratios

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/schedule"
)

// GuardSettings are the values of a Guard, with defaults for those that are not set.
type GuardSettings struct {
	// Enabled means that resizes are observed, and reverted if they make a pod worse. Schedule counts
	// without it, too.
	Enabled bool
	// Window is how long a resize is observed.
	Window time.Duration
	// Restarts is how many more restarts than before the resize make a pod worse.
	Restarts int
	// Unready is how long a pod may be not ready if it was ready before. It is shorter than Window.
	Unready time.Duration
	// Cooldown is the time before a different size is tried after a revert, for the first time.
	Cooldown time.Duration
	// Canary is the share of a workload's pods on a node type that try a smaller size before the others
	// get it, above 0 and at most 1. 1 means that no pod waits.
	Canary float64
	// Breaker means that reverts stop the resizing of the workload, or of the cluster, if there are too many.
	Breaker bool
	// Schedule says when pods are resized, except by reverts and restores.
	Schedule schedule.Schedule
}

// LongestWindow is the longest time for which a resize may be observed.
const LongestWindow = 24 * time.Hour

// SameAs reports whether all settings are equal.
func (s *GuardSettings) SameAs(o *GuardSettings) bool {
	return s.Enabled == o.Enabled && s.Window == o.Window && s.Restarts == o.Restarts && s.Unready == o.Unready && s.Cooldown == o.Cooldown &&
		s.Canary == o.Canary && s.Breaker == o.Breaker && slices.Equal(s.Schedule, o.Schedule)
}

// defaultGuard has the settings of a Guard that sets nothing.
var defaultGuard = GuardSettings{
	Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute, Canary: 0.1, Breaker: true,
}

// Settings returns the settings of a guard. That of a rule must have the values of the globals.
func (g *Guard) Settings() GuardSettings {
	s := defaultGuard
	set(&s.Enabled, g.Enabled)
	set(&s.Window, g.Window)
	set(&s.Restarts, g.Restarts)
	set(&s.Unready, g.Unready)
	set(&s.Cooldown, g.Cooldown)
	set(&s.Canary, g.Canary)
	set(&s.Breaker, g.Breaker)
	s.Schedule = g.Schedule
	return s
}

// set sets a value that is configured.
func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
