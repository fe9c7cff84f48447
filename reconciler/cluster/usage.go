package cluster

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// usage keeps what the pods of each node request in sum, by the scheduler's
// formula, so that a plan need not look at a pod's neighbours.
type usage struct {
	mu    sync.RWMutex
	pods  map[types.UID]podUsage
	nodes map[string]safety.Usage
}

type podUsage struct {
	node string
	safety.Usage
}

func newUsage() *usage {
	return &usage{pods: map[types.UID]podUsage{}, nodes: map[string]safety.Usage{}}
}

// set takes over a pod's state, and returns the node that has more room now than
// before; empty if none has.
func (u *usage) set(of *pod.Pod) (roomier string) {
	if of.Node() == "" || of.Finished() {
		return u.remove(of.UID)
	}
	now := podUsage{of.Node(), safety.Requests(of)}
	u.mu.Lock()
	defer u.mu.Unlock()
	before := u.pods[of.UID]
	if before == now {
		return ""
	}
	u.add(before, -1)
	u.pods[of.UID] = now
	u.add(now, 1)
	if now.CPU < before.CPU || now.Memory < before.Memory {
		return now.node
	}
	return ""
}

// remove takes note that a pod is gone, and returns the node that it leaves.
func (u *usage) remove(uid types.UID) (roomier string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	before, ok := u.pods[uid]
	if !ok {
		return ""
	}
	u.add(before, -1)
	delete(u.pods, uid)
	return before.node
}

func (u *usage) add(p podUsage, sign int64) {
	if p.node == "" {
		return
	}
	sum := u.nodes[p.node]
	sum.CPU += sign * p.CPU
	sum.Memory += sign * p.Memory
	if sum == (safety.Usage{}) {
		delete(u.nodes, p.node)
		return
	}
	u.nodes[p.node] = sum
}

// neighbours is what the other pods of a pod's node request.
func (u *usage) neighbours(of *pod.Pod) safety.Usage {
	u.mu.RLock()
	defer u.mu.RUnlock()
	sum := u.nodes[of.Node()]
	if own, ok := u.pods[of.UID]; ok && own.node == of.Node() {
		sum.CPU -= own.CPU
		sum.Memory -= own.Memory
	}
	return sum
}
