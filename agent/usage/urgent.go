package usage

import (
	"time"

	"github.com/workload-resizer/workload-resizer/agent/cgroup"
)

const (
	// mostUrgent is how many usages of a container may be reported before its period is over. As many again
	// are allowed when its limit has changed, or after a period without a reason. So a container that is always
	// near its limit costs little. closer is by which share of its limit it must come closer for one more: the
	// server may wait until it is much closer.
	mostUrgent, closer = 3, 0.01
	// nearLimit is how much of its memory limit a container uses that may be about to reach it. reachedLimit
	// is how much it uses at least if it reached the limit because of its needs, and not because of its
	// page cache.
	nearLimit, reachedLimit = 0.9, 0.8
)

// hurry returns a usage of the time between two readings if the container is near its memory limit.
// It has no CPU: that counts once, in the usage of the period.
func (w *window) hurry(before *cgroup.Reading, since, now time.Time, r *cgroup.Reading) (u Usage, ok bool) {
	if before.Limit != r.Limit {
		w.allowUrgent()
	}
	used, limited := r.WorkingSet(), r.Limited.Since(before.Limited)
	if peak := spike(before, r); peak.Known {
		used.N = max(used.N, peak.N)
	}
	if !used.Known || !r.Limit.Known {
		return Usage{}, false
	}
	of := float64(used.N) / float64(r.Limit.N)
	if of < reachedLimit || of < nearLimit && limited.N == 0 {
		return Usage{}, false
	}
	w.limited, of = true, min(of, 1)
	if w.urgent == 0 && of < w.closest+closer {
		return Usage{}, false
	}
	w.urgent, w.closest = max(w.urgent-1, 0), max(w.closest, of)
	return Usage{
		PodUID: w.PodUID, ContainerID: w.ID, End: now, Duration: now.Sub(since), Memory: &used.N, Charged: pointer(r.Memory),
		MemoryPressure: waited(r.MemoryWait.Since(before.MemoryWait), now.Sub(since)), LimitEvents: pointer(limited),
	}, true
}

// allowUrgent allows usages before the period is over.
func (w *window) allowUrgent() { w.urgent, w.closest = mostUrgent, 0 }
