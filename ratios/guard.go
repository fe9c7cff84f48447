package ratios

import (
	"cmp"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/schedule"
)

// Guard is how resizes are observed, reverted and spread over time. Values that are nil are not set:
// a rule has the values of the globals, and the globals have the defaults of GuardSettings, which
// explains the values.
type Guard struct {
	Enabled                     *bool
	Window                      *time.Duration
	Restarts                    *int
	Unready                     *time.Duration
	Throttling                  *float64
	CPUPressure, MemoryPressure *float64
	MemoryUse                   *float64
	// Objectives are set as a whole. A rule without any has an empty list.
	Objectives []Objective
	Cooldown   *time.Duration
	Canary     *float64
	MaxPods    struct{ Workload, Node *int }
	MaxChange  *float64
	// Schedule is set as a whole. An empty one is always open.
	Schedule schedule.Schedule
}

// Objective is a query whose value shows that pods are well, or not.
type Objective struct {
	// Name is unique in the list, and a DNS label.
	Name string
	// Prometheus is the URL of the Prometheus that answers the query.
	Prometheus string
	// Query is in PromQL.
	Query string
	// Above or Below is the threshold: a value beyond it breaks the objective. The other is nil.
	Above, Below *float64
}

// IsBrokenBy reports whether a value breaks the objective. NaN does not: it is the value of a query
// without measurements.
func (o *Objective) IsBrokenBy(value float64) bool {
	return o.Above != nil && value > *o.Above || o.Below != nil && value < *o.Below
}

// IsEmpty reports whether nothing is set.
func (g *Guard) IsEmpty() bool {
	return g.Enabled == nil && g.Window == nil && g.Restarts == nil && g.Unready == nil && g.Throttling == nil && g.CPUPressure == nil &&
		g.MemoryPressure == nil && g.MemoryUse == nil && g.Objectives == nil && g.Cooldown == nil && g.Canary == nil &&
		g.MaxPods.Workload == nil && g.MaxPods.Node == nil && g.MaxChange == nil && g.Schedule == nil
}

// Over returns the guard with what it does not set from the globals.
func (g *Guard) Over(globals *Guard) Guard {
	all := Guard{
		Enabled: cmp.Or(g.Enabled, globals.Enabled), Window: cmp.Or(g.Window, globals.Window), Restarts: cmp.Or(g.Restarts, globals.Restarts),
		Unready: cmp.Or(g.Unready, globals.Unready), Throttling: cmp.Or(g.Throttling, globals.Throttling),
		CPUPressure: cmp.Or(g.CPUPressure, globals.CPUPressure), MemoryPressure: cmp.Or(g.MemoryPressure, globals.MemoryPressure),
		MemoryUse: cmp.Or(g.MemoryUse, globals.MemoryUse), Objectives: g.Objectives, Cooldown: cmp.Or(g.Cooldown, globals.Cooldown),
		Canary: cmp.Or(g.Canary, globals.Canary), MaxChange: cmp.Or(g.MaxChange, globals.MaxChange), Schedule: g.Schedule,
	}
	all.MaxPods.Workload = cmp.Or(g.MaxPods.Workload, globals.MaxPods.Workload)
	all.MaxPods.Node = cmp.Or(g.MaxPods.Node, globals.MaxPods.Node)
	if all.Objectives == nil {
		all.Objectives = globals.Objectives
	}
	if all.Schedule == nil {
		all.Schedule = globals.Schedule
	}
	return all
}
