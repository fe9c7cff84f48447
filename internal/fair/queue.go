package fair

import (
	"container/list"
	"context"
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

// line has those of an origin who wait: at least one.
type line struct {
	// waiting has the *waiters of each priority, the one that has waited longest first. An origin may
	// have very many, who may all give up at the same time, and others must not wait for that.
	waiting [Highest + 1]list.List
	// served is the last turn that the line had, or when it began.
	served int
}

type waiter struct {
	Turn
	share Share[struct{}]
	// come is closed when it is the waiter's turn.
	come chan struct{}
	// place is the waiter's in its line; nil if it does not wait.
	place *list.Element
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
	w.place = l.waiting[w.Priority].PushBack(w)
}

// leave ends what a waiter waits for or holds: its turn may come at the moment when it gives up.
func (q *Queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.place != nil {
		q.remove(w)
		return
	}
	w.share.Release()
	for l := q.next(); l != nil; l = q.next() {
		first := l.first()
		q.pool.Add(&first.share, first.Key, 1)
		q.turns++
		l.served = q.turns
		q.remove(first)
		close(first.come)
	}
}

// next returns the line whose first waiter has the next turn; nil if there is no room for any.
func (q *Queue) next() (next *line) {
	for _, l := range q.lines {
		if q.pool.full(l.first().Key, 1) == nil && (next == nil || q.before(l, next)) {
			next = l
		}
	}
	return next
}

// before reports whether the first waiter of a line takes precedence over the first one of another.
func (q *Queue) before(a, b *line) bool {
	first, other := a.first(), b.first()
	if (first.Priority == Highest) != (other.Priority == Highest) {
		return first.Priority == Highest
	}
	if held, others := q.pool.Held(Origin, first.Key), q.pool.Held(Origin, other.Key); held != others {
		return held < others
	}
	return a.served < b.served
}

// remove removes a waiter from its line.
func (q *Queue) remove(w *waiter) {
	l := q.lines[w.Origin]
	l.waiting[w.Priority].Remove(w.place)
	if w.place = nil; l.first() == nil {
		delete(q.lines, w.Origin)
	}
}

// first returns the waiter of a line who is next; nil if nobody waits.
func (l *line) first() *waiter {
	for p := Highest; p >= Normal; p-- {
		if e := l.waiting[p].Front(); e != nil {
			return e.Value.(*waiter)
		}
	}
	return nil
}
