package loop

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/actuate"
)

// brake delays the writes to all pods after the API server has answered that it is too busy. Otherwise,
// each pod would find that out by itself, with a request that makes the API server busier.
type brake struct {
	mu sync.Mutex
	backOff
}

// pull starts a delay if an error says that the API server is too busy, at least as long as the API server
// asks for. An admission webhook may be busy only for the pods in one namespace, so it decides about no more
// than the pod.
func (b *brake) pull(err error, now time.Time) {
	asked := actuate.Asked(err)
	if err != nil && strings.Contains(err.Error(), "admission webhook") {
		asked = 0
	}
	if asked == 0 && actuate.StatusCode(err) != http.StatusTooManyRequests {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.backOff.left(now) > 0 {
		return // It was the answer to a write that had begun before.
	}
	b.longer(now, max(asked, firstPause), max(asked, longPause))
}

// release lets the next delay be as short as the first, since the API server has accepted a write: one that
// is busy only for some pods, as a webhook can say, must not delay the others ever longer.
func (b *brake) release(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.backOff.left(now) == 0 {
		b.backOff = backOff{}
	}
}

// left returns the rest of the delay.
func (b *brake) left(now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.backOff.left(now)
}
