package streams

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// askEvery is how long a watch goes on at most until it is asked again whether its
// caller may have it. A watch that is silent looks up every bookmarkEvery, so all
// ask within a minute.
const askEvery = time.Minute - bookmarkEvery

// stillAllowed asks again if it is time to. The times differ, so that many watches
// that began at once do not ask at once.
func (w *Watch[T, M]) stillAllowed(ctx context.Context) error {
	now := time.Now()
	if now.Before(w.askAt) {
		return nil
	}
	// The first time, the caller has just been let in.
	if !w.askAt.IsZero() {
		if err := access.StillAllowed(ctx); err != nil {
			return err
		}
	}
	w.askAt = now.Add(w.AskEvery/2 + rand.N(w.AskEvery/2))
	return nil
}
