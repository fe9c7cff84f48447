package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// progress describes what the kubelet reports about the resize to the pod's spec.
type progress struct {
	// code is ResizeInfeasible, ResizeError, ResizeDeferred or ResizeInProgress; empty if
	// the kubelet reports nothing.
	code contract.Reason
	// message is the kubelet's message.
	message string
	// overdue means that the resize has been in progress for longer than patience.
	overdue bool
	// replanAt is the time at which the progress changes without any event; zero if it does
	// not.
	replanAt time.Time
}

const (
	// patience is how long a resize in progress prevents another one. Nodes need seconds; a
	// node that hangs must not block a pod forever.
	patience = 5 * time.Minute
	// clockSkew is how far a kubelet's clock may be behind the API server's clock
	// for its conditions to count immediately.
	clockSkew = 2 * time.Second
	// lookedAt is the time after a resize by which a kubelet has certainly observed it. Its
	// conditions then count, regardless of its clock.
	lookedAt = time.Minute
)

// progressOf evaluates the conditions of the pod at a time. If there are several, the most
// urgent one counts.
func progressOf(of *pod.Pod, now time.Time) progress {
	var p progress
	conditions := of.Conditions()
	for i := range conditions {
		c := &conditions[i]
		if until := of.ResizedAt().Add(lookedAt); beforeResize(c, of.ResizedAt()) && now.Before(until) {
			p.replanAt = until
			continue
		}
		if c.Code.Traits().Urgency > p.code.Traits().Urgency {
			p.code, p.message = c.Code, c.Message
		}
		if c.Code != contract.ResizeInProgress {
			continue
		}
		// A time in the future comes from a wrong clock, and is ignored.
		if until := c.Since.Add(patience); now.Before(until) && (now.IsZero() || until.Before(now.Add(2*patience))) {
			p.replanAt = until
		} else {
			p.overdue = true
		}
	}
	return p
}

// beforeResize reports whether a condition without a generation seems older than our last
// resize.
func beforeResize(c *pod.Condition, resized time.Time) bool {
	return c.Generationless && c.Since.Before(resized.Add(-clockSkew))
}

// Says returns the most urgent condition of a resize, regardless of its time; nil if there is
// none.
func Says(of *pod.Pod) (said *pod.Condition) {
	conditions := of.Conditions()
	for i := range conditions {
		if c := &conditions[i]; said == nil || c.Code.Traits().Urgency > said.Code.Traits().Urgency {
			said = c
		}
	}
	return said
}
