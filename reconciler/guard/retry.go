package guard

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// MostDoublings is how often the cooldown doubles.
const MostDoublings = 4

// Forbids reports whether a revert forbids a size of the same resource, and until when. Sizes that lower nothing
// of the size before the resize are allowed. The size that made the pod worse is forbidden for good: until is
// zero. Different sizes are forbidden until the cooldown is over.
func Forbids(r *pod.Revert, size sizing.Amount, cooldown time.Duration, now time.Time) (until time.Time, forbids bool) {
	if !Lowers(r.Back, size) {
		return time.Time{}, false
	}
	if size == r.Hurt {
		return time.Time{}, true
	}
	if until = retryAt(r, cooldown); now.Before(until) {
		return until, true
	}
	return time.Time{}, false
}

// retryAt returns when a different size may be tried after a revert.
func retryAt(r *pod.Revert, cooldown time.Duration) time.Time {
	return r.At.Add(cooldown << min(max(r.Times-1, 0), MostDoublings))
}
