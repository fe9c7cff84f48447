package policy

import (
	"cmp"
	"time"

	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

// Guard is when resizes are made, and how they are observed and reverted. Values that are nil are
// not set: a rule has the values of the globals, and the globals have the defaults of GuardSettings,
// which explains the values.
type Guard struct {
	Enabled  *bool
	Window   *time.Duration
	Restarts *int
	Unready  *time.Duration
	Cooldown *time.Duration
	Canary   *float64
	// MaxChange is a share. MaxPods and MaxPodsOnNode are numbers of pods.
	MaxChange              *float64
	MaxPods, MaxPodsOnNode *int
	DisruptionBudgets      *bool
	KeepSingletonLimits    *bool
	Breaker                *bool
	// Objectives are set as a whole. A rule without any has an empty list.
	Objectives []Objective
	// Shares from 0 to 1.
	Throttling, CPUPressure, MemoryPressure, MemoryUse *float64
	// Schedule is set as a whole. An empty one is always open.
	Schedule schedule.Schedule
}

// IsEmpty reports whether nothing is set.
func (g *Guard) IsEmpty() bool {
	return g.Enabled == nil && g.Window == nil && g.Restarts == nil && g.Unready == nil && g.Cooldown == nil && g.Canary == nil && g.Breaker == nil &&
		g.MaxChange == nil && g.MaxPods == nil && g.MaxPodsOnNode == nil && g.DisruptionBudgets == nil && g.KeepSingletonLimits == nil &&
		g.Throttling == nil && g.CPUPressure == nil && g.MemoryPressure == nil && g.MemoryUse == nil && g.Objectives == nil && g.Schedule == nil
}

// Over returns the guard with what it does not set from the globals.
func (g *Guard) Over(globals *Guard) Guard {
	all := Guard{
		Enabled: cmp.Or(g.Enabled, globals.Enabled), Window: cmp.Or(g.Window, globals.Window), Restarts: cmp.Or(g.Restarts, globals.Restarts),
		Unready: cmp.Or(g.Unready, globals.Unready), Cooldown: cmp.Or(g.Cooldown, globals.Cooldown), Canary: cmp.Or(g.Canary, globals.Canary),
		Breaker: cmp.Or(g.Breaker, globals.Breaker), Schedule: g.Schedule,
		MaxChange: cmp.Or(g.MaxChange, globals.MaxChange), MaxPods: cmp.Or(g.MaxPods, globals.MaxPods),
		MaxPodsOnNode: cmp.Or(g.MaxPodsOnNode, globals.MaxPodsOnNode), DisruptionBudgets: cmp.Or(g.DisruptionBudgets, globals.DisruptionBudgets),
		KeepSingletonLimits: cmp.Or(g.KeepSingletonLimits, globals.KeepSingletonLimits),
		Throttling:          cmp.Or(g.Throttling, globals.Throttling), CPUPressure: cmp.Or(g.CPUPressure, globals.CPUPressure),
		MemoryPressure: cmp.Or(g.MemoryPressure, globals.MemoryPressure), MemoryUse: cmp.Or(g.MemoryUse, globals.MemoryUse), Objectives: g.Objectives,
	}
	if all.Objectives == nil {
		all.Objectives = globals.Objectives
	}
	if all.Schedule == nil {
		all.Schedule = globals.Schedule
	}
	return all
}
