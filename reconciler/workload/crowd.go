package workload

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/guard"
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
func (c *Crowd) Places(asks *pod.Pod) (places int, next time.Time) {
	places = c.Most
	for _, other := range c.Pods {
		if other.UID == asks.UID || !other.Lives() || !lowered(other, c.Within, c.Now) {
			continue
		}
		places--
		if until := guard.Until(other, c.Within); next.IsZero() || until.Before(next) {
			next = until
		}
	}
	return max(0, places), next
}

const (
	// fewPods is the number of pods of a crowd that may all ask for each place. The pods of a node are fewer.
	fewPods = 250
	// asking is how many pods of a larger crowd ask for each place.
	asking = 20
)

// Again returns when a pod asks again if the next place is free at a time. If all pods of a large crowd asked for
// each place, all of them would be planned for each that is resized, and each plan looks at all of them. So each pod
// waits for a part of the time that all take, and some longer than others. Plans of the same pod at the same time
// must be equal.
func (c *Crowd) Again(asks *pod.Pod, next time.Time) time.Time {
	if len(c.Pods) <= fewPods {
		return next
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(asks.UID)) // It never fails.
	share := 0.5 + float64(hash.Sum32())/(1<<32)
	pause := time.Duration(share * float64(c.Within) * float64(len(c.Pods)) / float64(asking*c.Most))
	if later := c.Now.Add(pause); later.After(next) {
		return later
	}
	return next
}

// lowered reports whether the last resize of a pod lowered a size, within a time before now.
func lowered(of *pod.Pod, within time.Duration, now time.Time) bool {
	return guard.Observed(of, within, now) && slices.ContainsFunc(guard.Changes(of, within), func(c guard.Change) bool { return c.Lowers() })
}
