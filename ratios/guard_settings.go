package ratios

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/schedule"
)

// GuardSettings are the values of a Guard, with defaults for those that are not set. Shares are from
// 0 to 1.
type GuardSettings struct {
	// Enabled means that resizes are observed, and reverted if they make a pod worse.
	Enabled bool
	// Window is how long a resize is observed.
	Window time.Duration
	// Restarts is how many more restarts than before the resize make a pod worse.
	Restarts int
	// Unready is how long a pod may be not ready if it was ready before. It is shorter than Window.
	Unready time.Duration
	// Throttling is the share of the CPU periods that may be throttled.
	Throttling float64
	// CPUPressure and MemoryPressure are the shares of time in which a task of the pod may wait for
	// the resource, as PSI measures it.
	CPUPressure, MemoryPressure float64
	// MemoryUse is the share of the memory limit that the working set may reach.
	MemoryUse float64
	// Objectives must not be broken. There are at most 10, with different names.
	Objectives []Objective
	// Cooldown is the time before a workload whose resize was reverted is tried again, for the first
	// time.
	Cooldown time.Duration
	// Canary is the share of the pods of a workload that are resized before the others.
	Canary float64
	// MaxPods is how many pods of a workload, and on a node, are resized at the same time; 0 if any
	// number are.
	MaxPods struct{ Workload, Node int }
	// MaxChange limits the change to a request in one step, as a share of its current value; 0 if it
	// has no limit.
	MaxChange float64
	// Schedule says when pods are resized.
	Schedule schedule.Schedule
}

// defaultGuard has the settings of a Guard that sets nothing.
var defaultGuard = GuardSettings{
	Enabled: true, Window: 5 * time.Minute, Restarts: 2, Unready: time.Minute, Throttling: 0.5, CPUPressure: 0.6, MemoryPressure: 0.2,
	MemoryUse: 0.95, Cooldown: 10 * time.Minute, Canary: 0.1,
}

// Settings returns the settings of a guard. That of a rule must have the values of the globals.
func (g *Guard) Settings() GuardSettings {
	s := defaultGuard
	set(&s.Enabled, g.Enabled)
	set(&s.Window, g.Window)
	set(&s.Restarts, g.Restarts)
	set(&s.Unready, g.Unready)
	set(&s.Throttling, g.Throttling)
	set(&s.CPUPressure, g.CPUPressure)
	set(&s.MemoryPressure, g.MemoryPressure)
	set(&s.MemoryUse, g.MemoryUse)
	s.Objectives = g.Objectives
	set(&s.Cooldown, g.Cooldown)
	set(&s.Canary, g.Canary)
	set(&s.MaxPods.Workload, g.MaxPods.Workload)
	set(&s.MaxPods.Node, g.MaxPods.Node)
	set(&s.MaxChange, g.MaxChange)
	s.Schedule = g.Schedule
	return s
}

// set sets a value that is configured.
func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
