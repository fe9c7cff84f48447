package guard

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// mostDoublings is how often the cooldown doubles.
const mostDoublings = 4

// RetryAt returns when a different size may be tried after a revert.
func RetryAt(r *pod.Revert, cooldown time.Duration) time.Time {
	return r.At.Add(cooldown << min(max(r.Times-1, 0), mostDoublings))
}
