package mover

import (
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// podOf returns the pod of an entry; nil if it is gone.
func (m *Mover) podOf(e *evict.Entry) *pod.Pod {
	if of := m.Cluster.Pods(e.Namespace).Get(e.Pod); of != nil && of.UID == e.UID && !of.Finished() {
		return of
	}
	return nil
}

const (
	// seenWithin is how late the cache may show that a pod is being deleted, and landsWithin how late that may begin if the answer was
	// lost: the API server works on a request for a minute.
	seenWithin, landsWithin = time.Minute, 2 * time.Minute
	// replacedWithin is how long it may take until a ready pod has taken the place of one that was evicted, and wholeWithin how
	// long others of its workload and of its node wait for that.
	replacedWithin, wholeWithin = 10 * time.Minute, time.Hour
)

// inProgress reports whether a pod is about to move, or has moved and its workload is not complete again. A budget or a
// finalizer, say, may prevent that for good: others do not wait longer than for one that has moved.
func (g *glance) inProgress(e *evict.Entry) bool {
	return g.moving(e) || g.podOf(e) != nil && g.must[e.UID] && e.Cleared.IsZero() && g.now.Sub(e.Chosen) < wholeWithin
}

// moving reports whether a pod may have been evicted, and its workload is not complete again.
func (g *glance) moving(e *evict.Entry) bool {
	if of := g.podOf(e); of != nil {
		return g.now.Sub(e.Last()) < landsWithin || of.Terminating() && g.now.Sub(e.At) < wholeWithin
	}
	s := g.count(e.Namespace, e.Workload)
	return g.now.Sub(e.At) < wholeWithin && (s.ready < e.Ready || s.ready+s.others < e.Pods)
}

// missed reports whether no ready pod has taken the place of one that was evicted. If all pods of the workload are ready, it
// was scaled down.
func (g *glance) missed(e *evict.Entry) bool {
	if e.NotEvicted() || g.now.Sub(e.At) < replacedWithin || g.now.Sub(e.At) >= wholeWithin || g.podOf(e) != nil {
		return false
	}
	s := g.count(e.Namespace, e.Workload)
	return s.ready < e.Ready && s.others > 0
}

// size is how many pods of a workload are ready, how many others it has, how many of both are on a node, and how many are being
// deleted.
type size struct{ ready, others, placed, going int }

// count returns the size of a workload.
func (g *glance) count(namespace string, w workload.Workload) size {
	sizes := g.sizes[namespace]
	if sizes == nil {
		sizes = map[workload.Workload]size{}
		owners := make([]workload.Workload, 0, 4) // Few pods have more than 4.
		for _, of := range g.Cluster.Pods(namespace).List() {
			if of.Finished() {
				continue
			}
			owners = g.Cluster.Owners().Chain(owners[:0], of)
			w := topOf(of, owners)
			s := sizes[w]
			switch ready, _ := of.Ready(); {
			case of.Terminating():
				s.going++
			case ready:
				s.ready++
			default:
				s.others++
			}
			if of.Node() != "" && !of.Terminating() {
				s.placed++
			}
			sizes[w] = s
		}
		g.sizes[namespace] = sizes
	}
	return sizes[w]
}
