package config

import (
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/reader"
)

// readGuard reads how resizes are observed, reverted and spread over time.
func readGuard(g *ratios.Guard) func(reader.Value) {
	return func(v reader.Value) {
		v.Fields(reader.Known{
			"enabled":    flag(&g.Enabled),
			"window":     duration(&g.Window, 30*time.Second, day),
			"restarts":   count(&g.Restarts, 1, 100, 2),
			"unready":    duration(&g.Unready, 5*time.Second, time.Hour),
			"throttling": share(&g.Throttling, false),
			"pressure": func(v reader.Value) {
				v.Fields(reader.Known{"cpu": share(&g.CPUPressure, false), "memory": share(&g.MemoryPressure, false)})
			},
			"memoryUse":  share(&g.MemoryUse, false),
			"objectives": readObjectives(&g.Objectives),
			"cooldown":   duration(&g.Cooldown, time.Minute, day),
			"canary":     share(&g.Canary, false),
			"maxPods": func(v reader.Value) {
				v.Fields(reader.Known{"workload": count(&g.MaxPods.Workload, 0, mostPods, 10), "node": count(&g.MaxPods.Node, 0, mostPods, 10)})
			},
			"maxChange": share(&g.MaxChange, true),
			"schedule":  readSchedule(&g.Schedule),
		})
	}
}

// mostPods is more than the pods of any workload.
const mostPods = 1_000_000

// checkGuard adds faults between the values of a guard. all has those of the globals, too: a fault
// between these alone is not the rule's.
func checkGuard(f *reader.Faults, path string, own, all *ratios.Guard) {
	if own.Window == nil && own.Unready == nil {
		return
	}
	// A pod that stays not ready must be noticed while it is observed.
	if s := all.Settings(); s.Unready >= s.Window {
		f.Add(path, "unready %s is not shorter than window %s: set both", describe(s.Unready), describe(s.Window))
	}
}
