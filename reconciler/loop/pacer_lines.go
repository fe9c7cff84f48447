package loop

import (
	"container/heap"

	"k8s.io/apimachinery/pkg/types"
)

// turn is the pacer's state of a pod: it waits for its turn, has its turn, or will need
// another turn.
type turn struct {
	pod types.NamespacedName
	// moves is how often the pod was moved before, while others waited.
	moves int
	// restores reports whether the turn is for a restore.
	restores bool
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
// failed wait in their own line, in order of arrival, so that none of them delays
// other pods.
type lines struct {
	restores, sizes, failed line
	// failures counts the pods that joined the line of pods that failed.
	failures float64
}

// put lets a pod wait in the line where it belongs.
func (l *lines) put(t *turn, wrong float64, restores bool) {
	if t.restores != restores {
		// The previous refusal was for a different kind of resize.
		t.restores, t.failed, t.unlucky = restores, false, false
	}
	belongs, first := &l.sizes, wrong
	switch {
	case t.failed && t.line == &l.failed:
		return // It keeps its place.
	case t.failed:
		l.failures++
		belongs, first = &l.failed, -l.failures
	case restores:
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

// next removes and returns the next pod; at least one must be waiting. With failedToo it
// returns a pod that failed, unless a restore waits.
func (l *lines) next(failedToo bool) *turn {
	switch {
	case len(l.restores) > 0:
		return heap.Pop(&l.restores).(*turn)
	case len(l.failed) > 0 && (failedToo || len(l.sizes) == 0):
		return heap.Pop(&l.failed).(*turn)
	}
	return heap.Pop(&l.sizes).(*turn)
}

// untried returns the number of waiting pods that have not failed.
func (l *lines) untried() int { return len(l.restores) + len(l.sizes) }

func (l *lines) len() int { return l.untried() + len(l.failed) }

// line is a heap of turns, the next one first. Among pods that failed, the number of moves
// does not matter.
type line []*turn

func (l line) Len() int { return len(l) }
func (l line) Less(i, j int) bool {
	if !l[i].failed && l[i].moves != l[j].moves {
		return l[i].moves < l[j].moves
	}
	return l[i].first > l[j].first
}
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
