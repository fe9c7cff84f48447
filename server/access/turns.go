package access

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// turnsPerOrigin is how many reviews for callers of one origin may be in progress, or wait for
// the rate limit of the client, at a time. Reviews wait there in order, so each origin gets its
// share of the client's rate, and waits at most for this number of reviews of each other one.
const turnsPerOrigin = 8

// turns limits the reviews of one kind that are in progress for the callers of one origin. The
// zero value is ready to use.
type turns struct {
	mu sync.Mutex
	// origins has only origins whose callers have a turn or wait for one.
	origins map[string]*turnsOf
}

type turnsOf struct {
	free  *semaphore.Weighted
	users int
}

// take waits for a turn, in order, until ctx is done.
func (t *turns) take(ctx context.Context, origin string) (leave func(), err error) {
	t.mu.Lock()
	if t.origins == nil {
		t.origins = map[string]*turnsOf{}
	}
	of, ok := t.origins[origin]
	if !ok {
		of = &turnsOf{free: semaphore.NewWeighted(turnsPerOrigin)}
		t.origins[origin] = of
	}
	of.users++
	t.mu.Unlock()
	forget := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(t.origins, origin)
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
