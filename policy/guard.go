package policy

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/policy/schedule"
)

// Guard is when resizes are made, and how they are observed and reverted.
type Guard struct {
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
	// MaxUnproven is how many of a workload's pods on nodes of one type, or which percentage of them, may have a
	// smaller size before it has proven itself. AllPods means that no pod waits.
	MaxUnproven intstr.IntOrString
	// MaxChange is the share by which a resize may lower a request or limit, above 0 and at most 1. The rest
	// follows when the resize has proven itself. 1 means no limit.
	MaxChange float64
	// DisruptionBudgets means that a pod gets a smaller size only while its PodDisruptionBudgets allow a
	// disruption.
	DisruptionBudgets bool
	// Breaker means that too many reverts stop the resizing of the workload, of the namespace or of the cluster.
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

// mostPods is the largest number of pods that a limit may have. Kubernetes supports no more in a cluster.
const mostPods = 150_000

// AllPods is the MaxUnproven with which no pod waits.
var AllPods = intstr.FromString("100%")

// LimitsUnproven reports whether only some pods of a workload may have a smaller size that has not proven itself.
func (g *Guard) LimitsUnproven() bool { return g.MaxUnproven != AllPods }

// Unproven returns how many of a workload's pods may have a smaller size that has not proven itself: at least one.
// Like a percentage of maxUnavailable, it is rounded down.
func (g *Guard) Unproven(pods int) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(&g.MaxUnproven, pods, false)
	if err != nil {
		panic(fmt.Sprintf("policy: maxUnproven: %v", err)) // No key accepts anything else.
	}
	return max(1, n)
}

// Keys implements keys.Section.
func (g *Guard) Keys() []keys.Key {
	return []keys.Key{
		keys.Of("enabled", &g.Enabled, keys.Flag, true, "whether resizes are observed, and reverted if they make a pod worse. With `false`, no pod waits for canaries, other pods or budgets either, `maxChange` does not apply, and sizes that were reverted may be tried again; `schedule` still counts"),
		keys.Of("window", &g.Window, keys.Duration(30*time.Second, LongestWindow), 5*time.Minute, "how long a resize is observed. For measurements to count, it must be at least three times as long as the time that one covers"),
		keys.Of("restarts", &g.Restarts, keys.Count(100, 2), 2, "how many more restarts than before the resize make a pod worse, if the container failed, or has a liveness or startup probe"),
		keys.Of("unready", &g.Unready, keys.Duration(5*time.Second, time.Hour), time.Minute, "how long a pod that was ready before the resize may be not ready. It must be shorter than `window`"),
		keys.Of("cooldown", &g.Cooldown, keys.Duration(time.Minute, keys.Day), 10*time.Minute, "time before a different size is tried after a revert. It doubles with each further revert, up to 16 times as long"),
		keys.Of("throttling", &g.Throttling, keys.Share, 0.5, "share of the CPU periods that may be throttled after a CPU limit was lowered. With this and the next three keys, a value counts only if it was well below before, and with 1 (100%), nothing is reverted because of it"),
		keys.Of("pressure.cpu", &g.CPUPressure, keys.Share, 0.6, "share of the time in which a task may wait for cpu (`some` of PSI)"),
		keys.Of("pressure.memory", &g.MemoryPressure, keys.Share, 0.2, "share of the time in which a task may wait for memory (`some` of PSI)"),
		keys.Of("memoryUse", &g.MemoryUse, keys.Share, 0.95, "share of a lowered memory limit that the working set may use"),
		keys.Of("objectives", &g.Objectives, objectives, nil, "queries whose values show whether pods are well. Those of a rule replace those of the globals; `[]` removes them").Or("none"),
		keys.Of("maxUnproven", &g.MaxUnproven, keys.CountOrPercentage(mostPods, 3), intstr.FromString("10%"), "how many of a workload's pods on nodes of one type, or which percentage of them, may have a smaller size before it has proven itself. A percentage is rounded down, but is at least one pod. New pods do not wait. With `100%`, no pod waits"),
		keys.Gone("canary", "use guard.maxUnproven, such as 10%"),
		keys.Gone("maxPods", "use guard.maxUnproven, such as 3, which limits the pods of a workload until the size has proven itself; nothing limits those of a node"),
		keys.Of("maxChange", &g.MaxChange, keys.Share, 1, "the share by which a resize may lower a request or limit. The rest follows in further steps, each after the one before was observed"),
		keys.Of("disruptionBudgets", &g.DisruptionBudgets, keys.Flag, true, "whether a pod that is not new gets a smaller size only while its PodDisruptionBudgets allow a disruption, and at most 10 select it. Set it to `false` for a workload whose budget never allows one"),
		keys.Gone("keepSingletonLimits", "remove it; to keep the size of a workload with one pod, annotate its pods with workload-resizer.io/skip: \"true\""),
		keys.Of("breaker", &g.Breaker, keys.Flag, true, "whether reverts of the pods count for [breakers](guard.md#breakers). An open breaker stops their sizing in any case. Set it to `false` for namespaces whose users you do not trust: they can open breakers"),
		keys.Of("schedule", &g.Schedule, windows, nil, "when resizes are made; reverts and restores always are. The windows of a rule replace those of the globals; `[]` removes them").Or("always"),
	}
}
