package policy

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/policy/schedule"
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
	// MaxChange is the share by which a resize may lower a request or limit, above 0 and at most 1. The rest
	// follows when the resize has proven itself. 1 means no limit.
	MaxChange float64
	// MaxPods is how many pods of a workload, and MaxPodsOnNode how many of a node, may have a smaller size
	// at the same time that has not proven itself. 0 means no limit.
	MaxPods, MaxPodsOnNode int
	// DisruptionBudgets means that a pod gets a smaller size only while its PodDisruptionBudgets allow a
	// disruption.
	DisruptionBudgets bool
	// KeepSingletonLimits means that no limit of a workload's only pod is lowered: no other pod can try it first.
	KeepSingletonLimits bool
	// Breaker means that reverts stop the resizing of the workload, or of the cluster, if there are too many.
	Breaker bool
	// Throttling is the share of the periods of the CPU limit in which a container may be throttled, and
	// CPUPressure and MemoryPressure are the shares of the time in which a task may wait for the
	// resource (PSI). MemoryUse is the share of the memory limit that the working set may reach. From 1
	// on, nothing is too much. The defaults are high: a revert must be beyond doubt, and a container that
	// was as bad before is not reverted in any case.
	Throttling, CPUPressure, MemoryPressure, MemoryUse float64
	// Objectives must not be broken. There are at most 10, with different names.
	Objectives []Objective
	// Schedule says when pods are resized, except by reverts and restores.
	Schedule schedule.Schedule
}

// LongestWindow is the longest time for which a resize may be observed.
const LongestWindow = 24 * time.Hour

// SameAs reports whether all settings are equal.
func (s *GuardSettings) SameAs(o *GuardSettings) bool {
	return s.Enabled == o.Enabled && s.Window == o.Window && s.Restarts == o.Restarts && s.Unready == o.Unready && s.Cooldown == o.Cooldown &&
		s.Throttling == o.Throttling && s.CPUPressure == o.CPUPressure && s.MemoryPressure == o.MemoryPressure && s.MemoryUse == o.MemoryUse &&
		slices.EqualFunc(s.Objectives, o.Objectives, Objective.sameAs) && s.Canary == o.Canary && s.Breaker == o.Breaker &&
		s.MaxChange == o.MaxChange && s.MaxPods == o.MaxPods && s.MaxPodsOnNode == o.MaxPodsOnNode && s.DisruptionBudgets == o.DisruptionBudgets &&
		s.KeepSingletonLimits == o.KeepSingletonLimits && slices.Equal(s.Schedule, o.Schedule)
}

// defaultGuard has the settings of a Guard that sets nothing.
var defaultGuard = GuardSettings{
	Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Cooldown: 10 * time.Minute,
	Throttling: 0.5, CPUPressure: 0.6, MemoryPressure: 0.2, MemoryUse: 0.95, Canary: 0.1, MaxChange: 1, DisruptionBudgets: true, Breaker: true,
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
	set(&s.MaxChange, g.MaxChange)
	set(&s.MaxPods, g.MaxPods)
	set(&s.MaxPodsOnNode, g.MaxPodsOnNode)
	set(&s.DisruptionBudgets, g.DisruptionBudgets)
	set(&s.KeepSingletonLimits, g.KeepSingletonLimits)
	set(&s.Breaker, g.Breaker)
	set(&s.Throttling, g.Throttling)
	set(&s.CPUPressure, g.CPUPressure)
	set(&s.MemoryPressure, g.MemoryPressure)
	set(&s.MemoryUse, g.MemoryUse)
	s.Objectives = g.Objectives
	s.Schedule = g.Schedule
	return s
}

// set sets a value that is configured.
func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
