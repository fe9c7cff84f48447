package node

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Table has what the pods of each node request, and the room that is kept for them. All methods are safe for
// concurrent use.
type Table struct {
	mu    sync.RWMutex
	pods  map[types.UID]request
	nodes map[string]Resources
	// kept has the pods of each node for which room may be kept. A pod leaves it once its resize has proven itself.
	kept map[string]map[types.UID]keeping
}

// request is what a pod requests of a node.
type request struct {
	node string
	Resources
}

// keeping is a pod, and the room that is kept for it while its last resize is observed.
type keeping struct {
	of *pod.Pod
	Resources
}

// NewTable returns a table without pods.
func NewTable() *Table {
	return &Table{pods: map[types.UID]request{}, nodes: map[string]Resources{}, kept: map[string]map[types.UID]keeping{}}
}

// Set records a pod's state, and the room to keep for it. It returns the node that has more room than before; empty
// if there is none.
func (t *Table) Set(of *pod.Pod, keep Resources) (roomier string) {
	if of.Node() == "" || of.Finished() {
		return t.Remove(of.UID)
	}
	is := request{of.Node(), Requests(of)}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.pods[of.UID]
	if before.node != is.node || keep == (Resources{}) {
		t.forget(before.node, of.UID)
	}
	if keep != (Resources{}) {
		pods := t.kept[is.node]
		if pods == nil {
			pods = map[types.UID]keeping{}
			t.kept[is.node] = pods
		}
		pods[of.UID] = keeping{of, keep}
	}
	if before == is {
		return ""
	}
	t.replace(before, is)
	t.pods[of.UID] = is
	if is.CPU < before.CPU || is.Memory < before.Memory {
		return is.node
	}
	return ""
}

// Remove records that a pod is gone, and returns the node that it leaves.
func (t *Table) Remove(uid types.UID) (roomier string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.pods[uid]
	t.replace(before, request{})
	t.forget(before.node, uid)
	delete(t.pods, uid)
	return before.node
}

// forget keeps no room for a pod.
func (t *Table) forget(node string, uid types.UID) {
	pods := t.kept[node]
	if delete(pods, uid); len(pods) == 0 {
		delete(t.kept, node)
	}
}

// replace replaces a term of the sums of nodes.
func (t *Table) replace(before, is request) {
	if before.node != "" {
		t.nodes[before.node] = t.nodes[before.node].Minus(before.Resources)
	}
	if is.node != "" {
		t.nodes[is.node] = t.nodes[is.node].Plus(is.Resources)
	}
	if t.nodes[before.node] == (Resources{}) {
		delete(t.nodes, before.node)
	}
}

// Kept returns the room that is kept on a pod's node for its other pods, and until when all of it is; zero if there is
// none. proven returns when the resize of a pod has proven itself: then its room is no longer kept.
func (t *Table) Kept(of *pod.Pod, proven func(*pod.Pod) time.Time, now time.Time) (room Resources, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uid, kept := range t.kept[of.Node()] {
		over := proven(kept.of)
		switch {
		case !now.Before(over):
			t.forget(of.Node(), uid)
			continue
		case uid == of.UID:
			continue
		}
		room = room.Plus(kept.Resources)
		if until.IsZero() || over.Before(until) {
			until = over
		}
	}
	return room, until
}

// Requested returns the sum of the requests of the pods on a node.
func (t *Table) Requested(node string) Resources {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.nodes[node]
}

// Neighbors returns the sum of the requests of the other pods on the pod's node.
func (t *Table) Neighbors(of *pod.Pod) Resources {
	t.mu.RLock()
	defer t.mu.RUnlock()
	sum := t.nodes[of.Node()]
	if own := t.pods[of.UID]; own.node == of.Node() {
		sum = sum.Minus(own.Resources)
	}
	return sum
}
