package fair

import (
	"context"
	"slices"
	"sync"
)

// Queue lets callers wait until they may hold something. All methods are safe for concurrent use.
type Queue struct {
	mu   sync.Mutex
	pool *Pool[struct{}]
	// lines are those who wait, by origin. An origin without any has no line.
	lines map[string]*line
	// turns counts the turns of those who waited, and the lines that began.
	turns int
}

// Turn is whose turn a Queue lets come, and how urgently.
type Turn struct {
	Key
	Priority Priority
}

// Priority orders those who wait in an origin: a higher one goes first, and of equal ones the one
// that has waited longest. Highest takes precedence over all origins.
type Priority int

// Priorities of turns.
const (
	Normal Priority = iota
	High
	Highest
)

// line has those of an origin who wait, the next one first.
type line struct {
	waiting []*waiter
	// served is the last turn that the line had, or when it began.
	served int
}

type waiter struct {
	Turn
	share Share[struct{}]
	// come is closed when it is the waiter's turn.
	come chan struct{}
}

// NewQueue returns a Queue in which nobody waits. Limits within an origin are not for those who
// wait, because they would keep its others waiting.
func NewQueue(all, perOrigin int) *Queue {
	return &Queue{pool: NewPool[struct{}](Limits{All: all, PerOrigin: perOrigin}), lines: map[string]*line{}}
}

// Enter waits until there is room, or until ctx is done. Of those who wait, the first one is of the
// origin that holds least, and of equal origins of the one whose last turn is longest ago.
func (q *Queue) Enter(ctx context.Context, turn Turn) (leave func(), err error) {
	w := &waiter{Turn: turn}
	leave = func() { q.leave(w) }
	q.mu.Lock()
	// All that wait have no room, so that none of them is overtaken.
	if q.pool.Take(&w.share, turn.Key, 1) == nil {
		q.mu.Unlock()
		return leave, nil
	}
	q.wait(w)
	q.mu.Unlock()
	select {
	case <-w.come:
		return leave, nil
	case <-ctx.Done():
		q.leave(w)
		return nil, ctx.Err()
	}
}

// wait puts a waiter in its line.
func (q *Queue) wait(w *waiter) {
	w.come = make(chan struct{})
	l := q.lines[w.Origin]
	if l == nil {
		q.turns++
		l = &line{served: q.turns} // Not less, or an origin could always be the next.
		q.lines[w.Origin] = l
	}
	at := len(l.waiting)
	for at > 0 && l.waiting[at-1].Priority < w.Priority {
		at--
	}
	l.waiting = slices.Insert(l.waiting, at, w)
}

// leave ends what a waiter waits for or holds: its turn may come at the moment when it gives up.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.share.Holds() {
		w.share.Release()
	} else if l := q.lines[w.Origin]; l != nil {
		if at := slices.Index(l.waiting, w); at >= 0 {
			q.remove(l, at)
		}
	}
	for l := q.next(); l != nil; l = q.next() {
		first := l.waiting[0]
		q.pool.Add(&first.share, first.Key, 1)
		q.turns++
		l.served = q.turns
		q.remove(l, 0)
		close(first.come)
	}
}

// next returns the line whose first waiter has the next turn; nil if there is no room for any.
func (q *Queue) next() (next *line) {
	for _, l := range q.lines {
		if q.pool.full(l.waiting[0].Key, 1) == nil && (next == nil || q.before(l, next)) {
			next = l
		}
	}
	return next
}

// before reports whether the first waiter of a line takes precedence over the first one of another.
func (q *Queue) before(a, b *line) bool {
	first, other := a.waiting[0], b.waiting[0]
	if (first.Priority == Highest) != (other.Priority == Highest) {
		return first.Priority == Highest
	}
	if held, others := q.pool.Held(Origin, first.Key), q.pool.Held(Origin, other.Key); held != others {
		return held < others
	}
	return a.served < b.served
}

// remove removes a waiter from its line.
func (q *Queue) remove(l *line, at int) {
	origin := l.waiting[at].Origin
	if l.waiting = slices.Delete(l.waiting, at, at+1); len(l.waiting) == 0 {
		delete(q.lines, origin)
	}
}
