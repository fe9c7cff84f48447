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

	// line is the line in which the pod waits, and places are those in its queues; line is nil if
	// the pod does not wait.
	line   *line
	places [2]int
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
		belongs.push(t)
	case t.first != first:
		t.first = first
		belongs.fix(t)
	}
}

// remove removes a pod from its line, if it waits.
func (l *lines) remove(t *turn) {
	if t.line != nil {
		t.line.remove(t)
	}
}

// first returns the first pod that has not failed; nil if there is none, or if it frees more than
// fits.
func (l *lines) first(fits, fair func(*turn) bool) *turn {
	if l.restores.len() > 0 {
		return l.restores.first()
	}
	return firstOf(&l.sizes.all, l.freeing.firstFair(fair), fits)
}

// firstFailed returns the first pod that failed, in the same way.
func (l *lines) firstFailed(fits func(*turn) bool) *turn {
	return firstOf(&l.failed.all, l.failedFreeing.firstFair(func(*turn) bool { return true }), fits)
}

// firstFair returns the first pod of a line in which only one namespace has pods, and otherwise the first one that leaves
// enough to others; nil if there is none.
func (l *line) firstFair(fair func(*turn) bool) (first *turn) {
	switch {
	case l.len() == 0:
		return nil
	case len(l.of) == 1 || fair(l.first()):
		return l.first()
	}
	for _, own := range l.of {
		if t := own.first(); (first == nil || t.before(first) || !first.before(t) && t.pod.Namespace < first.pod.Namespace) && fair(t) {
			first = t
		}
	}
	return first
}

// firstOf returns the first pod of a line and another one that frees room, which is left out unless it fits.
func firstOf(others *queue, freeing *turn, fits func(*turn) bool) *turn {
	switch {
	case freeing != nil && (others.Len() == 0 || freeing.before(others.first())) && fits(freeing):
		return freeing
	case others.Len() > 0:
		return others.first()
	}
	return nil
}

// firstInTurn is like first, but the namespaces take turns: it returns the first pod of the one whose last turn, which
// last returns, is the longest ago. A pod that frees room has no turn before the first of all that do, which may wait
// for room.
func (l *lines) firstInTurn(last func(namespace string) uint64, fits, fair func(*turn) bool) (next *turn) {
	if l.restores.len() > 0 {
		return l.restores.first()
	}
	freeing := l.freeing.firstFair(fair)
	mayFree := freeing != nil && fits(freeing)
	inTurn := func(t *turn) bool { return mayFree && fits(t) && (t == freeing || fair(t)) }
	longest := uint64(0)
	for _, in := range [...]*line{&l.sizes, &l.freeing} {
		for namespace := range in.of {
			at := last(namespace)
			if next != nil && at > longest {
				continue
			}
			var own *turn
			if l.freeing.of[namespace].Len() > 0 {
				own = l.freeing.of[namespace].first()
			}
			t := firstOf(l.sizes.of[namespace], own, inTurn)
			if t != nil && (next == nil || at < longest || t.before(next) || !next.before(t) && namespace < next.pod.Namespace) {
				next, longest = t, at
			}
		}
	}
	return next
}

// untried returns the number of waiting pods that have not failed.
func (l *lines) untried() int { return l.restores.len() + l.sizes.len() + l.freeing.len() }

func (l *lines) len() int { return l.untried() + l.failed.len() + l.failedFreeing.len() }

// before reports whether a pod has its turn before another that waits for the same. Among pods that
// failed, the number of moves does not matter.
func (t *turn) before(other *turn) bool {
	if !t.failed && t.moves != other.moves {
		return t.moves < other.moves
	}
	return t.first > other.first
}

// line has turns, the next one first, and also those of each namespace.
type line struct {
	all queue
	of  map[string]*queue
}

func (l *line) len() int { return len(l.all.turns) }

// first returns the next turn. There must be one.
func (l *line) first() *turn { return l.all.first() }

func (l *line) push(t *turn) {
	if l.of == nil {
		l.of = map[string]*queue{}
	}
	own := l.of[t.pod.Namespace]
	if own == nil {
		own = &queue{place: 1}
		l.of[t.pod.Namespace] = own
	}
	heap.Push(&l.all, t)
	heap.Push(own, t)
}

// fix moves a turn whose priority has changed.
func (l *line) fix(t *turn) {
	heap.Fix(&l.all, t.places[0])
	heap.Fix(l.of[t.pod.Namespace], t.places[1])
}

func (l *line) remove(t *turn) {
	own := l.of[t.pod.Namespace]
	heap.Remove(&l.all, t.places[0])
	heap.Remove(own, t.places[1])
	if own.Len() == 0 {
		delete(l.of, t.pod.Namespace)
	}
	t.line = nil
}

// queue is a heap of turns, the next one first. Nil has none.
type queue struct {
	turns []*turn
	// place is which of the places of a turn is the one in this queue.
	place int
}

func (q *queue) first() *turn { return q.turns[0] }

// Len implements heap.Interface, as do the other methods.
func (q *queue) Len() int {
	if q == nil {
		return 0
	}
	return len(q.turns)
}

func (q *queue) Less(i, j int) bool { return q.turns[i].before(q.turns[j]) }

func (q *queue) Swap(i, j int) {
	q.turns[i], q.turns[j] = q.turns[j], q.turns[i]
	q.turns[i].places[q.place], q.turns[j].places[q.place] = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	t := x.(*turn)
	t.places[q.place] = len(q.turns)
	q.turns = append(q.turns, t)
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(q.turns) - 1
	t := q.turns[last]
	q.turns[last] = nil
	q.turns = q.turns[:last]
	return t
}
