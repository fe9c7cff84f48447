package cluster

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// reserved holds the sum of the requests of each node's pods, computed as the scheduler
// does, so that a plan does not have to look at a pod's neighbors.
type reserved struct {
	mu    sync.RWMutex
	pods  map[types.UID]reservation
	nodes map[string]safety.Resources
	// freed has the pods of each node whose last resize freed room and may still be observed. A
	// pod leaves it once its resize has proven itself.
	freed map[string]map[types.UID]freed
}

// freed is what the last resize of a pod freed.
type freed struct {
	by *pod.Pod
	safety.Resources
}

type reservation struct {
	node string
	safety.Resources
}

func newReserved() *reserved {
	return &reserved{pods: map[types.UID]reservation{}, nodes: map[string]safety.Resources{}, freed: map[string]map[types.UID]freed{}}
}

// set records a pod's state now, and returns the node that has more room than before; empty
// if there is none.
func (r *reserved) set(of *pod.Pod, now time.Time) (roomier string) {
	if of.Node() == "" || of.Finished() {
		return r.remove(of.UID)
	}
	is, room := reservation{of.Node(), safety.Requests(of)}, safety.Resources{}
	if guard.Observed(of, policy.LongestWindow, now) {
		room = guard.Freed(of)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.pods[of.UID]
	if before.node != is.node {
		r.forget(before.node, of.UID)
	}
	r.observe(of, room)
	if before == is {
		return ""
	}
	r.add(before, -1)
	r.pods[of.UID] = is
	r.add(is, 1)
	if is.CPU < before.CPU || is.Memory < before.Memory {
		return is.node
	}
	return ""
}

// remove records that a pod is gone, and returns the node that it leaves.
func (r *reserved) remove(uid types.UID) (roomier string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before, ok := r.pods[uid]
	if !ok {
		return ""
	}
	r.add(before, -1)
	r.forget(before.node, uid)
	delete(r.pods, uid)
	return before.node
}

// observe notes what the last resize of a pod freed.
func (r *reserved) observe(of *pod.Pod, room safety.Resources) {
	if room == (safety.Resources{}) {
		r.forget(of.Node(), of.UID)
		return
	}
	pods := r.freed[of.Node()]
	if pods == nil {
		pods = map[types.UID]freed{}
		r.freed[of.Node()] = pods
	}
	pods[of.UID] = freed{of, room}
}

func (r *reserved) forget(node string, uid types.UID) {
	if pods := r.freed[node]; pods != nil {
		delete(pods, uid)
		if len(pods) == 0 {
			delete(r.freed, node)
		}
	}
}

// kept returns the room on the pod's node that resizes of its other pods have freed and may need
// again, because they are still observed, and when the first of them is over; zero if there are
// none. window returns how long resizes of a pod are observed.
func (r *reserved) kept(of *pod.Pod, window func(*pod.Pod) time.Duration, now time.Time) (room safety.Resources, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for uid, freed := range r.freed[of.Node()] {
		over := guard.Until(freed.by, window(freed.by))
		switch {
		case !now.Before(over):
			r.forget(of.Node(), uid)
			continue
		case uid == of.UID:
			continue
		}
		room.CPU, room.Memory = room.CPU+freed.CPU, room.Memory+freed.Memory
		if until.IsZero() || over.Before(until) {
			until = over
		}
	}
	return room, until
}

func (r *reserved) add(p reservation, sign int64) {
	if p.node == "" {
		return
	}
	sum := r.nodes[p.node]
	sum.CPU += sign * p.CPU
	sum.Memory += sign * p.Memory
	if sum == (safety.Resources{}) {
		delete(r.nodes, p.node)
		return
	}
	r.nodes[p.node] = sum
}

// neighbors returns the sum of the requests of the other pods on the pod's node.
func (r *reserved) neighbors(of *pod.Pod) safety.Resources {
	r.mu.RLock()
	defer r.mu.RUnlock()
	sum := r.nodes[of.Node()]
	if own, ok := r.pods[of.UID]; ok && own.node == of.Node() {
		sum.CPU -= own.CPU
		sum.Memory -= own.Memory
	}
	return sum
}
