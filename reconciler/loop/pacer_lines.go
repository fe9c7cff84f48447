package loop

import (
	"container/heap"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
)

// need is what a pod waits for its turn with.
type need struct {
	// wrong is how wrong the pod's size is.
	wrong float64
	// restores reports whether the turn is for a restore.
	restores bool
	// frees is how much less the pod will request.
	frees node.Resources
}

// turn is the pacer's state of a pod: it waits for its turn, has its turn, or will need
// another turn.
type turn struct {
	pod types.NamespacedName
	// moves is how often the pod was moved before, while others waited.
	moves int
	// restores reports whether the turn is for a restore.
	restores bool
	// frees is how much less the pod will request, and holds how much of that counts as freed
	// already, because the turn has begun.
	frees, holds node.Resources
	// failed reports whether the last attempt was refused, and unlucky whether the last
	// turn was not used for a reason that may not be the pod's.
	failed, unlucky bool
	// came reports whether the turn has begun, and taken whether a worker uses it.
	came, taken bool

	// line is the line in which the pod waits, and index the place in it; line is nil if
	// the pod does not wait.
	line  *line
	index int
	// first is the priority: a pod with a higher value has its turn earlier.
	first float64
}

// missed records a turn without a result. A single missed turn may be bad luck, as when the
// pod changed in the meantime; a pod that misses turns repeatedly counts as failed.
func (t *turn) missed() {
	t.failed, t.unlucky = t.failed || t.unlucky, true
}

// lines holds the pods that wait for their turn. Restores come first. Then come the other
// pods: those moved least often first, and among these the most wrong first. Pods that
// failed wait in their own lines, in order of arrival, so that none of them delays
// other pods. Pods that free room do not delay those that free none, either.
type lines struct {
	restores, sizes, freeing, failed, failedFreeing line
	// failures counts the pods that joined the lines of pods that failed.
	failures float64
}

// put lets a pod wait in the line where it belongs.
func (l *lines) put(t *turn, n need) {
	if t.restores != n.restores {
		// The previous refusal was for a different kind of resize.
		t.restores, t.failed, t.unlucky = n.restores, false, false
	}
	t.frees = n.frees
	belongs, first := &l.sizes, n.wrong
	if n.frees != (node.Resources{}) {
		belongs = &l.freeing
	}
	switch {
	case t.failed:
		wasIn := t.line
		if belongs == &l.freeing {
			belongs = &l.failedFreeing
		} else {
			belongs = &l.failed
		}
		if wasIn == &l.failed || wasIn == &l.failedFreeing {
			first = t.first // It keeps its place.
		} else {
			l.failures++
			first = -l.failures
		}
	case n.restores:
		belongs = &l.restores
	}
	switch {
	case t.line != belongs:
		l.remove(t)
		t.line, t.first = belongs, first
		heap.Push(belongs, t)
	case t.first != first:
		t.first = first
		heap.Fix(belongs, t.index)
	}
}

// remove removes a pod from its line, if it waits.
func (l *lines) remove(t *turn) {
	if t.line != nil {
		heap.Remove(t.line, t.index)
	}
}

// first returns the first pod that has not failed; nil if there is none, or if it frees more than
// fits.
func (l *lines) first(fits func(*turn) bool) *turn {
	if len(l.restores) > 0 {
		return l.restores[0]
	}
	return firstOf(l.sizes, l.freeing, fits)
}

// firstFailed returns the first pod that failed, in the same way.
func (l *lines) firstFailed(fits func(*turn) bool) *turn {
	return firstOf(l.failed, l.failedFreeing, fits)
}

// firstOf returns the first pod of two lines. One of those that free room is left out unless it fits.
func firstOf(others, freeing line, fits func(*turn) bool) *turn {
	switch {
	case len(freeing) > 0 && (len(others) == 0 || freeing[0].before(others[0])) && fits(freeing[0]):
		return freeing[0]
	case len(others) > 0:
		return others[0]
	}
	return nil
}

// untried returns the number of waiting pods that have not failed.
func (l *lines) untried() int { return len(l.restores) + len(l.sizes) + len(l.freeing) }

func (l *lines) len() int { return l.untried() + len(l.failed) + len(l.failedFreeing) }

// before reports whether a pod has its turn before another that waits for the same. Among pods that
// failed, the number of moves does not matter.
func (t *turn) before(other *turn) bool {
	if !t.failed && t.moves != other.moves {
		return t.moves < other.moves
	}
	return t.first > other.first
}

// line is a heap of turns, the next one first.
type line []*turn

func (l line) Len() int           { return len(l) }
func (l line) Less(i, j int) bool { return l[i].before(l[j]) }
func (l line) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}

// Push implements heap.Interface.
func (l *line) Push(x any) {
	t := x.(*turn)
	t.index = len(*l)
	*l = append(*l, t)
}

// Pop implements heap.Interface.
func (l *line) Pop() any {
	last := len(*l) - 1
	t := (*l)[last]
	(*l)[last] = nil
	*l = (*l)[:last]
	t.line = nil
	return t
}
