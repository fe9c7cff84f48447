package loop

import (
	"container/heap"

	"k8s.io/apimachinery/pkg/types"
)

// turn is what the pacer knows of a pod: it waits for its turn, has it, or will ask
// for another one.
type turn struct {
	pod types.NamespacedName
	// moves is how often the pod was moved before, while others waited.
	moves int
	// restores tells that the turn is for the originals.
	restores bool
	// failed tells that the last try was refused, and unlucky that the last turn came
	// to nothing for a reason that need not be the pod's.
	failed, unlucky bool
	// came tells that the turn has come, and taken that a worker is at it.
	came, taken bool

	// line is where the pod waits, index the place in it; nil if it does not wait.
	line  *line
	index int
	// first is the more the sooner the turn comes.
	first float64
}

// missed takes note of a turn that came to nothing. Once may be bad luck, as when the
// pod changed meanwhile; a pod that always wastes its turns is one that fails.
func (t *turn) missed() {
	t.failed, t.unlucky = t.failed || t.unlucky, true
}

// lines are the pods that wait for their turn: whose originals somebody has asked for
// first, then those to be sized, the most wrong first of those that were moved least. Those that failed are in a line
// of their own, first come, first served, so that none of them is in the way of any
// other.
type lines struct {
	restores, sizes, failed line
	// failures counts the pods that came into the line of those that failed.
	failures float64
}

// put has a pod wait where it belongs.
func (l *lines) put(t *turn, wrong float64, restores bool) {
	if t.restores != restores {
		// What was refused was another thing.
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

// remove takes a pod out of the line that it waits in, if it does.
func (l *lines) remove(t *turn) {
	if t.line != nil {
		heap.Remove(t.line, t.index)
	}
}

// next takes out the pod that is to go, of which there must be one. With failedToo it
// is one that failed, unless somebody has asked for originals.
func (l *lines) next(failedToo bool) *turn {
	switch {
	case len(l.restores) > 0:
		return heap.Pop(&l.restores).(*turn)
	case len(l.failed) > 0 && (failedToo || len(l.sizes) == 0):
		return heap.Pop(&l.failed).(*turn)
	}
	return heap.Pop(&l.sizes).(*turn)
}

// untried is how many wait that have not failed.
func (l *lines) untried() int { return len(l.restores) + len(l.sizes) }

func (l *lines) len() int { return l.untried() + len(l.failed) }

// line is a heap of turns, the next one first. How often pods were moved does not matter
// among those that failed.
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
