package guard

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Crowd is pods of which only some may get smaller sizes within the same time.
type Crowd struct {
	Pods []*pod.Pod
	// Most is how many of them may, within how long.
	Most   int
	Within time.Duration
	Now    time.Time
}

// Places returns how many more pods of the crowd may get a smaller size now, the asking pod included, and
// when there is one place more; zero if no pod has taken one.
func (c *Crowd) Places(asks *pod.Pod) (places int, again time.Time) {
	places = c.Most
	for _, other := range c.Pods {
		if other.UID == asks.UID || other.Terminating() || other.Finished() || !lowered(other, c.Within, c.Now) {
			continue
		}
		places--
		if until := Until(other, c.Within); again.IsZero() || until.Before(again) {
			again = until
		}
	}
	return max(0, places), again
}

// lowered reports whether the last resize of a pod lowered a size, within a time before now.
func lowered(of *pod.Pod, within time.Duration, now time.Time) bool {
	return Observed(of, within, now) && slices.ContainsFunc(Changes(of), func(c Change) bool { return c.Lowers() })
}
