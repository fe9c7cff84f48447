package mover

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
)

// coming returns what the pods request that replace other pods than one, which were evicted, and are not on a node yet, and whether
// that is known of all of them: each may take the room on any node.
func (g *glance) coming(but types.UID) (all []corev1.ResourceList, known bool) {
	book, _ := g.store.last()
	maps.DeleteFunc(g.leaving, func(uid types.UID, _ corev1.ResourceList) bool { return book.Of(uid) == nil })
	for i := range book.Entries {
		e := &book.Entries[i]
		requests, has := g.leaving[e.UID]
		switch {
		case e.UID == but || has && requests == nil:
		case !g.comes(e, has):
			if has || g.podOf(e) == nil { // If fewer pods are on nodes later, that has another reason.
				g.leaving[e.UID] = nil
			}
		case !has:
			return nil, false // Another leader evicted it.
		default:
			all = append(all, requests)
		}
	}
	return all, true
}

// comes reports whether the pod that replaces that of an entry may not be on a node yet. evicted means that this process has
// evicted the pod, which the cache may not show yet.
func (g *glance) comes(e *evict.Entry, evicted bool) bool {
	if of := g.podOf(e); of != nil && !of.Terminating() {
		return evicted && g.now.Sub(e.At) < seenWithin
	}
	return g.now.Sub(e.At) < replacedWithin && g.count(e.Namespace, e.Workload).placed < e.Pods
}
