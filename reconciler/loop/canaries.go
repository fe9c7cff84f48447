package loop

import (
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// canaries counts the pods that are getting a size that their workload tries. Plans count those that the
// cache shows, but the cache lags behind the writes, and workers plan several pods of a workload at the
// same time: without the count, they would try a size on too many.
type canaries struct {
	mu sync.Mutex
	// underWay has the pods whose resize the cache may not show yet, and counts has their number for each
	// controller.
	underWay map[types.NamespacedName]controller
	counts   map[controller]int
	// shown counts how often such a pod has ended, by a hash of its controller.
	shown [256]uint64
	seed  maphash.Seed
}

// controller is a controller of pods in a namespace. Pods in others may name it, too, but do not belong to it.
type controller struct {
	namespace string
	uid       types.UID
}

func newCanaries() *canaries {
	return &canaries{underWay: map[types.NamespacedName]controller{}, counts: map[controller]int{}, seed: maphash.MakeSeed()}
}

func (c *canaries) slot(of controller) *uint64 {
	return &c.shown[maphash.Comparable(c.seed, of)%uint64(len(c.shown))]
}

// mark is what the cache showed of a controller's pods at some time.
type mark struct {
	controller
	shown uint64
}

// mark returns a mark of what the cache shows now.
func (c *canaries) mark(of controller) mark {
	c.mu.Lock()
	defer c.mu.Unlock()
	return mark{of, *c.slot(of)}
}

// begin reports whether a pod may get a size for which a plan has found a number of places. The plan was
// made after the mark. If it is out of date, the pod must be planned again.
func (c *canaries) begin(pod types.NamespacedName, places int, since mark) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if since.shown != *c.slot(since.controller) || c.counts[since.controller] >= places {
		return false
	}
	c.underWay[pod] = since.controller
	c.counts[since.controller]++
	return true
}

// end records that the cache shows the last resize of the pod, that the resize failed, or that the pod
// is gone.
func (c *canaries) end(pod types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of, ok := c.underWay[pod]
	if !ok {
		return
	}
	delete(c.underWay, pod)
	if c.counts[of]--; c.counts[of] == 0 {
		delete(c.counts, of)
	}
	*c.slot(of)++
}
