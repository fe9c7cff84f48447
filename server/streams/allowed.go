package streams

import (
	"context"
	"math/rand/v2"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/workload-resizer/workload-resizer/server/access"
)

// askEvery is the maximum time until the right of a watch's caller is checked again. A silent
// watch wakes up every bookmarkEvery, so every watch is checked within a minute.
const askEvery = time.Minute - bookmarkEvery

// unansweredFor is how long a watch continues while the API server does not report whether its
// caller still has the right: an overload must not end all watches, whose callers would then
// ask for more.
const unansweredFor = 5 * time.Minute

// stillAllowed checks the caller again if it is time to. The times are random, so that
// watches that began together do not all check at the same time.
func (w *Watch[T, M]) stillAllowed(ctx context.Context) error {
	return w.allowed.check(time.Now(), w.AskEvery, func() error { return access.StillAllowed(ctx) })
}

// allowed is when the caller of a watch was last allowed to, and when to ask again.
type allowed struct{ at, askAt time.Time }

// check asks whether the caller may still watch, if it is time to, and at most this often.
func (a *allowed) check(now time.Time, every time.Duration, ask func() error) error {
	if now.Before(a.askAt) {
		return nil
	}
	// The first time, the caller has just been authorized.
	if !a.askAt.IsZero() {
		err := ask()
		if status.Code(err) == codes.Unavailable && now.Sub(a.at) < unansweredFor {
			a.askAt = now.Add(every/8 + rand.N(every/8))
			return nil
		}
		if err != nil {
			return err
		}
	}
	a.at, a.askAt = now, now.Add(every/2+rand.N(every/2))
	return nil
}
