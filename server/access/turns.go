package access

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// turnsPerCaller is how many reviews of one caller may be in progress, or wait for the rate
// limit of the client, at a time. Reviews wait there in order, so each caller gets its share of
// the client's rate, and waits at most for this number of reviews of each other caller.
const turnsPerCaller = 8

// turns limits the reviews of one kind that are in progress for one caller. The zero value is
// ready to use.
type turns struct {
	mu sync.Mutex
	// callers has only callers that have a turn or wait for one, by their key.
	callers map[string]*turnsOf
}

type turnsOf struct {
	free  *semaphore.Weighted
	users int
}

// take waits for a turn, in order, until ctx is done.
func (t *turns) take(ctx context.Context, caller string) (leave func(), err error) {
	t.mu.Lock()
	if t.callers == nil {
		t.callers = map[string]*turnsOf{}
	}
	of, ok := t.callers[caller]
	if !ok {
		of = &turnsOf{free: semaphore.NewWeighted(turnsPerCaller)}
		t.callers[caller] = of
	}
	of.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(t.callers, caller)
		}
	}
	if err := of.free.Acquire(ctx, 1); err != nil {
		forget()
		return nil, err
	}
	return func() {
		of.free.Release(1)
		forget()
	}, nil
}
