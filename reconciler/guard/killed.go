package guard

import (
	"fmt"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// killed looks for a kill of the container for lack of memory after the resize, in the current
// or the last state. Lowering cpu kills no container.
func killed(c *Case, change *Change) finding {
	if change.Measure != sizing.Memory {
		return finding{}
	}
	if at, ok := killedAfter(c, change.Index); ok {
		return finding{kind: contract.OOMKilled, evidence: KillText(c.Pod, at)}
	}
	return finding{}
}

// KillText says when a container was killed for lack of memory.
func KillText(of *pod.Pod, at time.Time) string {
	return fmt.Sprintf("killed for lack of memory %s after the resize", after(of, at))
}

// killedAfter returns when a container was killed for lack of memory after the resize.
func killedAfter(c *Case, container int) (at time.Time, ok bool) {
	name := c.Pod.Containers[container].Name()
	for _, kill := range c.Pod.Kills() {
		if kill.Container == name && kill.At.After(c.Pod.ResizedAt()) {
			return kill.At, true
		}
	}
	return time.Time{}, false
}

// lackedMemory reports whether a container was killed for lack of memory after the resize, or shortly
// before it, if memory was reverted because of that: a revert is a resize, too.
func lackedMemory(c *Case, container int) bool {
	if _, killed := killedAfter(c, container); killed {
		return true
	}
	name := c.Pod.Containers[container].Name()
	for _, kill := range c.Pod.Kills() {
		if kill.Container != name || kill.At.Add(c.Settings.Window).Before(c.Pod.ResizedAt()) {
			continue
		}
		for _, r := range c.Pod.Reverts() {
			if r.Container == name && lacksMemory(r.Harm) {
				return true
			}
		}
	}
	return false
}

// lacksMemory reports whether a harm is a lack of memory.
func lacksMemory(h contract.Harm) bool {
	return h == contract.OOMKilled || h == contract.NearLimit || h == contract.MemoryPressure
}

// ByLimit reports whether a harm comes from a limit alone, so that a larger request does not help.
func ByLimit(h contract.Harm) bool {
	return h == contract.OOMKilled || h == contract.NearLimit || h == contract.Throttled
}

// after returns how long after the resize of a pod a time is.
func after(of *pod.Pod, at time.Time) time.Duration {
	return at.Sub(of.ResizedAt()).Round(time.Second)
}
