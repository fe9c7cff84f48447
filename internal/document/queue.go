package document

import (
	"context"
	"slices"
	"sync"
)

// Turn describes when a change is written if others wait, too. The zero value is for documents
// whose changes are written in the order of their arrival.
type Turn struct {
	Priority Priority
	// Group names the changes that may delay each other. The groups take turns, so that one with
	// many changes does not keep the others waiting.
	Group string
}

// Priority orders the changes in a group: a higher one goes first, and of equal ones the one that
// has waited longest. Highest takes precedence over all groups.
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
	// turns counts the turns of writes that waited.
	turns int
	// served has, for each group that waits, the last of these turns that it had or missed.
	served map[string]int
}

type turn struct {
	Turn
	// come is closed when it is the write's turn.
	come chan struct{}
}

// enter waits until the write may proceed, which must then call leave, or until ctx is done.
func (q *queue) enter(ctx context.Context, of Turn) error {
	q.mu.Lock()
	if !q.busy {
		q.busy = true
		q.mu.Unlock()
		return nil
	}
	mine := &turn{of, make(chan struct{})}
	q.waiting = append(q.waiting, mine)
	if _, waits := q.served[of.Group]; !waits {
		if q.served == nil {
			q.served = map[string]int{}
		}
		q.served[of.Group] = q.turns // Not less, or a group could always be the next.
	}
	q.mu.Unlock()
	select {
	case <-mine.come:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, mine); i >= 0 {
		q.remove(i)
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

// next lets the next write proceed. q.mu must be held.
func (q *queue) next() {
	if len(q.waiting) == 0 {
		q.busy = false
		return
	}
	first := 0
	for i := range q.waiting {
		if q.before(q.waiting[i], q.waiting[first]) {
			first = i
		}
	}
	close(q.waiting[first].come)
	q.turns++
	q.served[q.waiting[first].Group] = q.turns
	q.remove(first)
}

// before reports whether a write takes precedence over one that has waited longer.
func (q *queue) before(a, b *turn) bool {
	switch {
	case a.Priority == Highest || b.Priority == Highest:
		return a.Priority > b.Priority
	case a.Group != b.Group:
		return q.served[a.Group] < q.served[b.Group]
	}
	return a.Priority > b.Priority
}

// remove removes a write that no longer waits.
func (q *queue) remove(i int) {
	group := q.waiting[i].Group
	q.waiting = slices.Delete(q.waiting, i, i+1)
	if !slices.ContainsFunc(q.waiting, func(t *turn) bool { return t.Group == group }) {
		delete(q.served, group)
	}
}
