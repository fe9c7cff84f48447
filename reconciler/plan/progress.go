package plan

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// progress is what the kubelet says of the resize that the pod's spec asks for.
type progress struct {
	// code is ResizeInfeasible, ResizeError, ResizeDeferred or
	// ResizeInProgress; empty if the kubelet says nothing.
	code contract.Reason
	// message is the kubelet's.
	message string
	// overdue says that it has been in progress for longer than patience.
	overdue bool
	// replanAt is when time alone makes something else of it; zero if it does not.
	replanAt time.Time
}

const (
	// patience is for how long a resize in progress keeps another from being
	// tried. Nodes take seconds; one that hangs must not keep a pod for ever.
	patience = 5 * time.Minute
	// clockSkew is by how much a kubelet's clock may be behind the API server's
	// for its conditions to count at once.
	clockSkew = 2 * time.Second
	// lookedAt is how long after a resize a kubelet has looked at it for certain.
	// What it says then counts, whatever its clock says.
	lookedAt = time.Minute
)

// progressOf is what the conditions of the pod say at a time. Where there are several,
// the one that most needs somebody to act counts.
func progressOf(of *pod.Pod, now time.Time) progress {
	var p progress
	conditions := of.Conditions()
	for i := range conditions {
		c := &conditions[i]
		if until := of.ResizedAt().Add(lookedAt); beforeResize(c, of.ResizedAt()) && now.Before(until) {
			p.replanAt = until
			continue
		}
		if Urgency(c.Code) > Urgency(p.code) {
			p.code, p.message = c.Code, c.Message
		}
		if c.Code != contract.ResizeInProgress {
			continue
		}
		// A time to come is that of a clock which nothing follows from.
		if until := c.Since.Add(patience); now.Before(until) && (now.IsZero() || until.Before(now.Add(2*patience))) {
			p.replanAt = until
		} else {
			p.overdue = true
		}
	}
	return p
}

// beforeResize reports whether a condition without a generation seems to be older than our
// last resize.
func beforeResize(c *pod.Condition, resized time.Time) bool {
	return c.Generationless && c.Since.Before(resized.Add(-clockSkew))
}

// Urgency is the more the sooner somebody has to act on what a kubelet says of a resize; 0 if
// nobody has to.
func Urgency(code contract.Reason) int {
	switch code {
	case contract.ResizeInProgress:
		return 1
	case contract.ResizeDeferred:
		return 2
	case contract.ResizeError:
		return 3
	case contract.ResizeInfeasible:
		return 4
	}
	return 0
}

// Says is the most urgent of what the kubelet says of a resize, whenever it says so; nil if
// it says nothing.
func Says(of *pod.Pod) (said *pod.Condition) {
	conditions := of.Conditions()
	for i := range conditions {
		if c := &conditions[i]; said == nil || Urgency(c.Code) > Urgency(said.Code) {
			said = c
		}
	}
	return said
}
