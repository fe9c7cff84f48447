package loop

import "container/heap"

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
