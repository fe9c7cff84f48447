package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// reserved holds the sum of the requests of each node's pods, computed as the scheduler
// does, so that a plan does not have to look at a pod's neighbors.
type reserved struct {
	mu    sync.RWMutex
	pods  map[types.UID]reservation
	nodes map[string]safety.Resources
}

type reservation struct {
	node string
	safety.Resources
}

func newReserved() *reserved {
	return &reserved{pods: map[types.UID]reservation{}, nodes: map[string]safety.Resources{}}
}

// set records a pod's state, and returns the node that has more room than before; empty
// if there is none.
func (r *reserved) set(of *pod.Pod) (roomier string) {
	if of.Node() == "" || of.Finished() {
		return r.remove(of.UID)
	}
	now := reservation{of.Node(), safety.Requests(of)}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.pods[of.UID]
	if before == now {
		return ""
	}
	r.add(before, -1)
	r.pods[of.UID] = now
	r.add(now, 1)
	if now.CPU < before.CPU || now.Memory < before.Memory {
		return now.node
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
	delete(r.pods, uid)
	return before.node
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
