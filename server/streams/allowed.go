package streams

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// askEvery is the maximum time until the right of a watch's caller is checked again. A silent
// watch wakes up every bookmarkEvery, so every watch is checked within a minute.
const askEvery = time.Minute - bookmarkEvery

// stillAllowed checks the caller again if it is time to. The times are random, so that
// watches that began together do not all check at the same time.
func (w *Watch[T, M]) stillAllowed(ctx context.Context) error {
	now := time.Now()
	if now.Before(w.askAt) {
		return nil
	}
	// The first time, the caller has just been authorized.
	if !w.askAt.IsZero() {
		if err := access.StillAllowed(ctx); err != nil {
			return err
		}
	}
	w.askAt = now.Add(w.AskEvery/2 + rand.N(w.AskEvery/2))
	return nil
}
