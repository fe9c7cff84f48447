package config

import (
	"time"

	"github.com/workload-resizer/workload-resizer/internal/reader"
	"github.com/workload-resizer/workload-resizer/policy"
)

// readGuard reads when resizes are made, and how they are observed and reverted.
func readGuard(g *policy.Guard) func(reader.Value) {
	return func(v reader.Value) {
		v.Fields(reader.Known{
			"enabled":    flag(&g.Enabled),
			"window":     duration(&g.Window, 30*time.Second, policy.LongestWindow),
			"restarts":   count(&g.Restarts, 100, 2),
			"unready":    duration(&g.Unready, 5*time.Second, time.Hour),
			"cooldown":   duration(&g.Cooldown, time.Minute, day),
			"throttling": share(&g.Throttling),
			"pressure": func(v reader.Value) {
				v.Fields(reader.Known{"cpu": share(&g.CPUPressure), "memory": share(&g.MemoryPressure)})
			},
			"memoryUse":  share(&g.MemoryUse),
			"objectives": readObjectives(&g.Objectives),
			"canary":     share(&g.Canary),
			"maxChange":  share(&g.MaxChange),
			"maxPods": func(v reader.Value) {
				v.Fields(reader.Known{"workload": count(&g.MaxPods, mostPods, 10), "node": count(&g.MaxPodsOnNode, mostPods, 10)})
			},
			"disruptionBudgets":   flag(&g.DisruptionBudgets),
			"keepSingletonLimits": flag(&g.KeepSingletonLimits),
			"breaker":             flag(&g.Breaker),
			"schedule":            readSchedule(&g.Schedule),
		})
	}
}

// mostPods is the largest number of pods that a limit may have. Kubernetes supports no more in a cluster.
const mostPods = 150_000

// checkGuard adds faults between the values of a guard. all has those of the globals, too: a fault
// between these alone is not the rule's.
func checkGuard(f *reader.Faults, path string, own, all *policy.Guard) {
	if own.Window == nil && own.Unready == nil {
		return
	}
	// A pod that stays not ready must be noticed while it is observed.
	if s := all.Settings(); s.Unready >= s.Window {
		f.Add(path, "unready %s is not shorter than window %s: set both", describe(s.Unready), describe(s.Window))
	}
}
