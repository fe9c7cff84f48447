package guard

import (
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// RevertsOf returns how often a resource of a container of a pod was reverted, as the pod records it. A user who may write
// in our name may record any number: no more counts than the cooldown counts.
func RevertsOf(p *pod.Pod) (n int) {
	for i := range p.Reverts() {
		n += min(max(p.Reverts()[i].Times, 1), MostDoublings+1)
	}
	return n
}

// MayHaveKilled reports whether a resize may have caused a kill: the container had less memory than its author wrote. It
// still has that since its last resize, or the resize was reverted because of the kill.
func MayHaveKilled(p *pod.Pod, kill *pod.Kill) bool {
	for i := range p.Reverts() {
		r := &p.Reverts()[i]
		if r.Container == kill.Container && r.Measure == sizing.Memory && r.Harm == contract.OOMKilled && !r.At.Before(kill.At) && kill.At.After(p.AppliedAt()) {
			return true
		}
	}
	if p.ResizedAt().IsZero() || !kill.At.After(p.ResizedAt()) {
		return false
	}
	for i := range p.Containers {
		if c := &p.Containers[i]; c.Name() == kill.Container {
			has, authored := c.Spec.Memory, c.Original.Memory
			return has.Limit < authored.Limit || has.Request < authored.Request
		}
	}
	return false
}
