package guard

import (
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Crowd is pods of which only some may have a smaller size at the same time that has not proven itself.
type Crowd struct {
	Pods     []*pod.Pod
	Most     int
	Settings *ratios.GuardSettings
	Now      time.Time
}

// Places returns how many more pods of the crowd may get a smaller size now, the asking pod included, and
// when the first of those that have one has proven it; zero if none has.
func (c *Crowd) Places(asks *pod.Pod) (places int, again time.Time) {
	places = c.Most
	for _, other := range c.Pods {
		if other.UID == asks.UID || other.Terminating() || other.Finished() || !Lowered(other, c.Settings.Window, c.Now) {
			continue
		}
		places--
		if until := Until(other, c.Settings.Window); again.IsZero() || until.Before(again) {
			again = until
		}
	}
	return max(0, places), again
}

// Lowered reports whether the last resize of a pod lowered a size and is still observed.
func Lowered(of *pod.Pod, window time.Duration, now time.Time) bool {
	return Observed(of, window, now) && slices.ContainsFunc(Changes(of), func(c Change) bool { return c.Lowers() })
}
