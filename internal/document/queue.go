package document

import (
	"context"
	"slices"
	"sync"
)

// Priority orders the changes that wait for a write in progress: a higher one goes first, and of
// equal ones the one that has waited longest.
type Priority int

// Priorities of changes.
const (
	Normal Priority = iota
	High
	Highest
)

// queue lets one write at a time proceed. The zero value is ready to use.
type queue struct {
	mu sync.Mutex
	// busy reports whether a write proceeds.
	busy bool
	// waiting has the other writes in the order of their arrival.
	waiting []*turn
}

type turn struct {
	priority Priority
	// come is closed when it is the write's turn.
	come chan struct{}
}

// enter waits until the write may proceed, which must then call leave, or until ctx is done.
func (q *queue) enter(ctx context.Context, priority Priority) error {
	q.mu.Lock()
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		return nil
	}
	mine := &turn{priority, make(chan struct{})}
	q.waiting = append(q.waiting, mine)
	q.mu.Unlock()
	select {
	case <-mine.come:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, mine); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else {
		q.next() // The turn came at the same moment.
	}
	return ctx.Err()
}

// leave ends the write that proceeds.
func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next lets the first of the most urgent writes proceed. q.mu must be held.
func (q *queue) next() {
	if len(q.waiting) == 0 {
		q.busy = false
		return
	}
	first := 0
	for i, t := range q.waiting {
		if t.priority > q.waiting[first].priority {
			first = i
		}
	}
	close(q.waiting[first].come)
	q.waiting = slices.Delete(q.waiting, first, first+1)
}
