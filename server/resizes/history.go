package resizes

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/query"
	"github.com/workload-resizer/workload-resizer/server/changelog"
)

const (
	// readyAgain is how often to check whether the log has all resizes.
	readyAgain = 100 * time.Millisecond
	// passAgain is how often to check how far the pods have got.
	passAgain = 10 * time.Second
)

// history is a log of how pods were sized, by namespace and name. Its places are the resource
// versions of the pods, which all replicas share.
type history struct {
	*changelog.Log[query.Resized]
	watch query.ResizeWatch

	mu       sync.Mutex
	reached  reached
	complete bool
}

// follow returns a log that follows the reconciler.
func follow(r *reconciler.Reconciler) *history {
	h := &history{Log: changelog.New[query.Resized](changelog.Capacity, changelog.Versions)}
	h.watch = r.WatchResizes(h.take)
	return h
}

func (h *history) take(c query.ResizeChange) {
	h.mu.Lock()
	defer h.mu.Unlock()
	inOrder := h.reached.by(c.Version, time.Now())
	if !inOrder && h.complete {
		// The pods were listed again, which hides when pods were deleted.
		h.Since(h.watch.Version())
	}
	change := changelog.Change[query.Resized]{Item: c.Now, Gone: c.Now == nil}
	if c.Now == nil {
		change.Key = c.Before.Pod.String()
	} else {
		change.Key = c.Now.Pod.String()
	}
	h.Update(h.reached.place(), change)
}

// run waits until the log has all resizes, so that watches of other replicas can continue here
// even if nobody has watched here before. Then it moves the log on while no pod changes, so that
// watches of this replica can continue on replicas that have started since the last change.
func (h *history) run(ctx context.Context) {
	if wait.PollUntilContextCancel(ctx, readyAgain, true, func(context.Context) (bool, error) { return h.ready() == nil, nil }) != nil {
		return
	}
	wait.UntilWithContext(ctx, func(context.Context) { h.pass(time.Now()) }, passAgain)
}

func (h *history) pass(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reached.pass(h.watch.Version(), now)
	h.Update(h.reached.place())
}

// ready returns a NotReadyError until the log has all resizes.
func (h *history) ready() error {
	if err := h.watch.Ready(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.complete {
		h.complete = true
		h.reached.settle()
		h.Since(h.watch.Version())
		h.Update(h.reached.place())
	}
	return nil
}
