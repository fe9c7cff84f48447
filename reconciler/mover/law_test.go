package mover

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/evict"
)

// law knows which evictions are against the rules, from the state of the API server alone.
type law struct {
	// moved has the pods that were evicted, by their causes, and gone when these causes went away.
	moved map[evict.Cause]types.UID
	gone  map[evict.Cause]time.Time
	// moving has the pods whose workloads are not complete again, and hour when pods were evicted.
	moving map[types.UID]movement
	hour   []time.Time
}

type movement struct {
	*service
	node string
	at   time.Time
	// ready is how many pods of the workload were ready before, and pods how many there were.
	ready, pods int
}

func newLaw() law {
	return law{moved: map[evict.Cause]types.UID{}, gone: map[evict.Cause]time.Time{}, moving: map[types.UID]movement{}}
}

// evicted checks that a pod might be evicted, and takes note of it.
func (r *round) evicted(name string) {
	p := r.pods[name]
	if p == nil || r.serviceOf(p) == nil || p.Annotations[evict.SafeToEvict] == "false" {
		r.fatal("%s was evicted, which must never move", name)
	}
	now, s := r.cluster.Clock.Now(), r.serviceOf(p)
	entry := r.stored().Of(p.UID)
	if entry == nil {
		r.fatal("%s was evicted, but nothing stored says so", name)
	}
	cause := entry.Cause
	if cause.Namespace != p.Namespace || cause.Workload != s.Workload || cause.Node != p.Spec.NodeName {
		r.fatal("%s of %v on %s was evicted because of %v", name, s.Workload, p.Spec.NodeName, cause)
	}
	if !r.holds(cause) {
		r.fatal("%s was evicted because of %v, although its node has room", name, cause)
	}
	pods, others := r.of(s), 0
	for _, other := range pods {
		if other.UID != p.UID && isReady(other) {
			others++
		}
	}
	if others == 0 && isReady(p) {
		r.fatal("%s was evicted, the last ready pod of its workload", name)
	}
	if others < s.least {
		r.fatal("%s was evicted, which leaves %d ready pods, but its budget keeps %d", name, others, s.least)
	}
	if before, open := r.moved[cause]; open && before != p.UID {
		r.fatal("%s was evicted, although %s was for %v", name, before, cause)
	}
	for uid, m := range r.moving {
		if uid != p.UID && now.Sub(m.at) < wholeWithin && (m.node == p.Spec.NodeName || m.service == s) {
			r.fatal("%s on %s was evicted while %s moves, of %s on %s", name, p.Spec.NodeName, uid, m.app, m.node)
		}
	}
	r.hour = append(r.hour, now)
	recent := 0
	for _, at := range r.hour {
		if now.Sub(at) < time.Hour {
			recent++
		}
	}
	if recent > most {
		r.fatal("%d pods were evicted within an hour, of at most %d", recent, most)
	}
	if isReady(p) {
		others++
	}
	r.moved[cause] = p.UID
	delete(r.gone, cause)
	r.moving[p.UID] = movement{service: s, node: p.Spec.NodeName, at: now, ready: others, pods: len(pods)}
	r.leave(p)
	r.note("%s of %s was evicted: %v", p.UID, name, cause)
	r.tally.add("evicted")
	r.tally.add("evicted because of " + cause.Reason)
}

// holds reports whether a node lacks room for a pod of a workload.
func (r *round) holds(c evict.Cause) bool {
	if c.Reason == headroom {
		return r.short[c.Node]
	}
	for _, p := range r.pods {
		if p.DeletionTimestamp == nil && p.Spec.NodeName == c.Node && r.serviceOf(p).Workload == c.Workload {
			return r.full[c.Node]
		}
	}
	return false
}

// weigh takes note of which causes are gone, and of which workloads are complete again.
func (l *law) weigh(r *round) {
	now := r.cluster.Clock.Now()
	for c := range l.moved {
		switch {
		case r.holds(c):
			delete(l.gone, c)
		case l.gone[c].IsZero():
			l.gone[c] = now
		case now.Sub(l.gone[c]) >= evict.Closed:
			delete(l.moved, c)
			delete(l.gone, c)
		}
	}
	for uid, m := range l.moving {
		pods, ready := r.of(m.service), 0
		for _, p := range pods {
			if isReady(p) {
				ready++
			}
		}
		if ready >= m.ready && len(pods) >= m.pods {
			delete(l.moving, uid)
		}
	}
}
