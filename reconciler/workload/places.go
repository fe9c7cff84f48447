package workload

import (
	"hash/maphash"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Places counts the pods that are getting a smaller size of which their groups have only some at the same
// time. Plans count those that the cache shows, but the cache lags behind the writes, and workers plan several
// pods of a group at the same time: without the count, too many would get it.
type Places struct {
	mu sync.Mutex
	// underWay has the groups of the pods whose resize the cache may not show yet, and counts has the number
	// of these pods for each group.
	underWay map[types.NamespacedName][]Group
	counts   map[Group]int
	shown    Mark
	seed     maphash.Seed
}

// Mark is what the cache showed of all groups at some time: how often such a pod has ended, by a hash of the
// group.
type Mark [256]uint64

// NewPlaces returns Places that are all free.
func NewPlaces() *Places {
	return &Places{underWay: map[types.NamespacedName][]Group{}, counts: map[Group]int{}, seed: maphash.MakeSeed()}
}

func (p *Places) slot(of Group) uint64 {
	return maphash.Comparable(p.seed, of) % uint64(len(p.shown))
}

// Mark returns a mark of what the cache shows now.
func (p *Places) Mark() Mark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown
}

// Take reports whether a pod may take the places that a plan claims. The plan was made after the mark. If it
// is out of date, the pod must be planned again.
func (p *Places) Take(pod types.NamespacedName, claims []Claim, since *Mark) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, claim := range claims {
		slot := p.slot(claim.Group)
		if since[slot] != p.shown[slot] || p.counts[claim.Group] >= claim.Places {
			return false
		}
	}
	groups := make([]Group, len(claims))
	for i, claim := range claims {
		groups[i] = claim.Group
		p.counts[claim.Group]++
	}
	p.underWay[pod] = groups
	return true
}

// End records that the cache shows the last resize of the pod, that the resize failed, or that the pod
// is gone.
func (p *Places) End(pod types.NamespacedName) {
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
