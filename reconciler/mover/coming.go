package mover

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
)

// leaving is what is known of an eviction.
type leaving struct {
	// at is Entry.At of the eviction: of an earlier one, or of one by another leader, this says nothing.
	at time.Time
	// requests are what the pod that replaces the evicted one requests.
	requests corev1.ResourceList
	// settled means that no pod is to come, whatever number of pods the workload has later.
	settled bool
}

// coming returns what the pods request that replace other pods than one, which were evicted, and are not on a node yet, and whether
// that is known of all of them: each may take the room on any node.
func (g *glance) coming(but types.UID) (all []corev1.ResourceList, known bool) {
	book, _ := g.store.last()
	maps.DeleteFunc(g.leaving, func(uid types.UID, _ leaving) bool { return book.Of(uid) == nil })
	for i := range book.Entries {
		e := &book.Entries[i]
		l, has := g.leaving[e.UID]
		has = has && l.at.Equal(e.At)
		switch {
		case e.UID == but || e.NotEvicted() || has && l.settled:
		case !g.comes(e, has):
			if has || g.podOf(e) == nil {
				g.leaving[e.UID] = leaving{at: e.At, settled: true}
			}
		case !has:
			return nil, false // Another leader evicted it.
		default:
			all = append(all, l.requests)
		}
	}
	return all, true
}

// comes reports whether the pod that replaces that of an entry may not be on a node yet. evicted means that this process has
// evicted the pod, which the cache may not show yet.
func (g *glance) comes(e *evict.Entry, evicted bool) bool {
	if of := g.podOf(e); of != nil && !of.Terminating() {
		return evicted && g.now.Sub(e.At) < landsWithin
	}
	return g.now.Sub(e.At) < replacedWithin && g.count(e.Namespace, e.Workload).placed < e.Pods
}
