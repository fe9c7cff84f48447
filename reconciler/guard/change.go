package guard

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// Change is a resource of a container that the last resize changed.
type Change struct {
	// Index is the index of the container in the pod, and Measure the resource.
	Index   int
	Measure *sizing.Measure
	// From is the size before, To the size after the resize.
	From, To sizing.Amount
	// Restarts is how often the container had restarted before; -1 if that is unknown.
	Restarts int32
	// Unboosts means that the cpu before the resize was boosted because the container started. From is the size before
	// that boost.
	Unboosts bool
	// annotated means that an annotation of the pod has the change.
	annotated bool
}

// Lowers reports whether the resize lowered the request or the limit.
func (c *Change) Lowers() bool { return Lowers(c.From, c.To) }

// Lowers reports whether the request or the limit of a size is lower than before. The removal of a limit
// lowers nothing.
func Lowers(from, to sizing.Amount) bool {
	return to.Request < from.Request || lowersLimit(from, to)
}

func lowersLimit(from, to sizing.Amount) bool { return to.Limit != 0 && to.Limit < from.Limit }

// Back returns the size that undoes what the resize lowered, and nothing that it raised.
func (c *Change) Back() sizing.Amount {
	back := sizing.Amount{Request: max(c.From.Request, c.To.Request), Limit: c.To.Limit}
	if back.Limit != 0 {
		back.Limit = max(c.From.Limit, c.To.Limit, back.Request)
	}
	return back
}

// waits reports whether the node still has the size before the resize, as far as it says so. As long
// as it defers a resize, nothing that happens to the container comes from it.
func (c *Change) waits(of *pod.Pod) bool {
	has := of.Containers[c.Index].Allocated()
	return *c.Measure.Of(&has) == c.From
}

// Waits reports whether the node of a pod has not made yet what the last resize changed of a container.
func Waits(of *pod.Pod, c *pod.Container) (cpu, memory bool) {
	if c.Allocated() == c.Spec {
		return false, false // The rest takes longer.
	}
	changes, _ := changesOf(of)
	for _, change := range changes {
		if &of.Containers[change.Index] == c && change.waits(of) {
			cpu, memory = cpu || change.Measure == sizing.CPU, memory || change.Measure == sizing.Memory
		}
	}
	return cpu, memory
}

// Until returns when a resize has proven itself, if it is observed for this long; zero if the pod
// was never resized.
func Until(of *pod.Pod, window time.Duration) time.Time {
	if of.ResizedAt().IsZero() {
		return time.Time{}
	}
	return of.ResizedAt().Add(window)
}

// Observed reports whether the last resize of a pod is still observed. Without a time, as in a
// preview without a cluster, none is.
func Observed(of *pod.Pod, window time.Duration, now time.Time) bool {
	return !now.IsZero() && now.Before(Until(of, window))
}

// Changes returns what the last resize of a pod changed, as far as we did it, and what earlier ones changed
// that were still observed then. A size that was reverted is no change.
//
// A record that the last resize did not write may be of a resize that had proven itself long before. Then
// what that changed is no change, and nobody knows how many restarts there were between both.
func Changes(of *pod.Pod, window time.Duration) []Change {
	changes, complete := changesOf(of)
	if at := of.AppliedAt(); complete || at.IsZero() || !at.Add(window).Before(of.ResizedAt()) {
		return changes
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return c.annotated })
	for i := range changes {
		changes[i].Restarts = -1
	}
	return changes
}

// changesOf returns how the sizes of a pod, as far as we set them, differ from those before the resize that is
// annotated, and whether that is the last resize.
//
// The annotation is written after the resize. If the sizes differ from it, a resize was not
// annotated, and the annotated sizes are those before it: the originals if there is no annotation, as
// after the first resize.
func changesOf(of *pod.Pod) (changes []Change, complete bool) {
	if of.ResizedAt().IsZero() {
		return nil, true
	}
	applied := of.AppliedSizes()
	complete = true
	for i := range of.Containers {
		c := &of.Containers[i]
		was, known := applied.Of(c.Name(), i)
		for _, m := range sizing.Measures {
			change := Change{Index: i, Measure: m, From: *m.Of(&c.Original), To: *m.Of(&c.Spec), Restarts: -1}
			to := change.To
			if known {
				to, change.Restarts = *m.Of(&was.To), was.Restarts
				change.From, change.annotated = to, to == change.To
				ended := pod.BoostEnded
				if !change.annotated {
					ended = pod.Boosted // The resize that ended it was not annotated.
				}
				if change.Unboosts = m == sizing.CPU && was.Boost == ended; change.annotated || change.Unboosts {
					change.From = *m.Of(&was.From)
				} else if r := revertOf(of, &change); r != nil && r.Hurt == to {
					change.From = r.Back // A revert does not write the annotation.
				}
			}
			ours := c.Resized() && c.Standings[m.Index].Ours() && change.From.Request != 0
			if ours && change.From != change.To && !isReverted(of, &change, to) {
				changes, complete = append(changes, change), complete && change.annotated
			}
		}
	}
	return changes, complete
}

// Keeps returns the room that the node of a pod keeps for it while its last resize is observed: how much less the pod
// takes of the node since. A revert needs this room. The pod still takes what the node has not released yet.
func Keeps(of *pod.Pod, window time.Duration, now time.Time) (room node.Resources) {
	if !Observed(of, window, now) {
		return room
	}
	changes, _ := changesOf(of)
	for _, change := range changes {
		cpu, memory, _ := of.Containers[change.Index].Reserves()
		if change.Measure == sizing.CPU {
			room.CPU += max(0, change.From.Request-max(change.To.Request, cpu))
		} else {
			room.Memory += max(0, change.From.Request-max(change.To.Request, memory))
		}
	}
	return room
}

// Freed returns how much less a pod requests since its last resize, whether or not the node has
// made it. Containers that grew count against those that shrank.
func Freed(of *pod.Pod) (freed node.Resources) {
	changes, _ := changesOf(of)
	for _, change := range changes {
		if less := change.From.Request - change.To.Request; change.Measure == sizing.CPU {
			freed.CPU += less
		} else {
			freed.Memory += less
		}
	}
	return freed.AtLeast(node.Resources{})
}

// revertOf returns the last revert of the resource of a change; nil if there is none.
func revertOf(of *pod.Pod, c *Change) *pod.Revert {
	reverts := of.Reverts()
	for i := range reverts {
		if r := &reverts[i]; r.Container == of.Containers[c.Index].Name() && r.Measure == c.Measure {
			return r
		}
	}
	return nil
}

// isReverted reports whether a revert set the size that a change led to, and no later resize. annotated
// is the size that the last annotated resize led to. A revert may have had room only for the limit.
func isReverted(of *pod.Pod, c *Change, annotated sizing.Amount) bool {
	r := revertOf(of, c)
	if r == nil {
		return false
	}
	limit, lowered := r.LimitBack()
	return (c.To == r.Back || lowered && c.To == limit) && (annotated == r.Hurt || !of.AppliedAt().After(r.At))
}
