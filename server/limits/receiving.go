package limits

import (
	"context"
	"sync"

	"github.com/workload-resizer/workload-resizer/internal/fair"
	"github.com/workload-resizer/workload-resizer/server/access"
)

// Receiving bounds the requests of several messages that are arriving, which are in memory
// until they are complete. A new one is always let in: if there are too many, the caller with
// the most loses its oldest one. A nil Receiving has no limit.
type Receiving struct {
	mu       sync.Mutex
	requests *fair.Pool[context.CancelCauseFunc]
}

// NewReceiving returns a Receiving without requests, for this many at a time and this many of
// one account.
func NewReceiving(most, perAccount int) *Receiving {
	return &Receiving{requests: fair.NewPool[context.CancelCauseFunc](fair.Limits{All: most, PerAccount: perAccount})}
}

// Enter counts a request of the caller of ctx until leave is called. The context that it
// returns is canceled if the request gives way to others; Cause returns the error then. Call
// it only after the caller has been authorized.
func (r *Receiving) Enter(ctx context.Context) (_ context.Context, leave func()) {
	if r == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	request := &fair.Share[context.CancelCauseFunc]{Value: cancel}
	caller := access.FromContext(ctx)
	r.mu.Lock()
	evicted := r.requests.Insert(request, caller.Who())
	r.mu.Unlock()
	if evicted != nil {
		evicted.Value(errEvicted)
	}
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		request.Release()
	}
}
