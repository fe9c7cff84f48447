package loop

import (
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// places counts the pods that are getting a smaller size of which their groups have only some at the same
// time. Plans count those that the cache shows, but the cache lags behind the writes, and workers plan several
// pods of a group at the same time: without the count, too many would get it.
type places struct {
	mu sync.Mutex
	// underWay has the groups of the pods whose resize the cache may not show yet, and counts has the number
	// of these pods for each group.
	underWay map[types.NamespacedName][]plan.Group
	counts   map[plan.Group]int
	shown    mark
	seed     maphash.Seed
}

// mark is what the cache showed of all groups at some time: how often such a pod has ended, by a hash of the
// group.
type mark [256]uint64

func newPlaces() *places {
	return &places{underWay: map[types.NamespacedName][]plan.Group{}, counts: map[plan.Group]int{}, seed: maphash.MakeSeed()}
}

func (p *places) slot(of plan.Group) uint64 {
	return maphash.Comparable(p.seed, of) % uint64(len(p.shown))
}

// mark returns a mark of what the cache shows now.
func (p *places) mark() mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// take reports whether a pod may take the places that a plan claims. The plan was made after the mark. If it
// is out of date, the pod must be planned again.
func (p *places) take(pod types.NamespacedName, claims []plan.Claim, since *mark) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, claim := range claims {
		slot := p.slot(claim.Group)
		if since[slot] != p.shown[slot] || p.counts[claim.Group] >= claim.Places {
			return false
		}
	}
	groups := make([]plan.Group, len(claims))
	for i, claim := range claims {
		groups[i] = claim.Group
		p.counts[claim.Group]++
	}
	p.underWay[pod] = groups
	return true
}

// end records that the cache shows the last resize of the pod, that the resize failed, or that the pod
// is gone.
func (p *places) end(pod types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, group := range p.underWay[pod] {
		if p.counts[group]--; p.counts[group] == 0 {
			delete(p.counts, group)
		}
		p.shown[p.slot(group)]++
	}
	delete(p.underWay, pod)
}
