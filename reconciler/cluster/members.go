package cluster

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// members remembers the pods that budgets select, from the first plan that needs them. Without it, each plan
// would compare all pods in a namespace, which may be tens of thousands, with a selector.
//
// It remembers the keys of pods. The pods come from the cache, which may be ahead of its event handlers: a
// plan must see each resize that the loop has seen.
//
// Users who may create budgets must not be able to fill the memory, so it remembers at most a few budgets for
// each pod.
type members struct {
	mu sync.RWMutex
	// namespaces has the budgets of each namespace by their uid.
	namespaces map[string]map[types.UID]*membership
}

// membership is a budget and the keys of the pods that it selects.
type membership struct {
	of   *budget
	keys map[string]struct{}
}

func newMembers() *members {
	return &members{namespaces: map[string]map[types.UID]*membership{}}
}

// membersOf returns the pods that a budget selects, in any order. The caller owns the slice.
func (c *Cluster) membersOf(b *budget) []*pod.Pod {
	if pods, known := c.members.read(c.podIndex, b); known {
		return pods
	}
	return c.members.find(c, b)
}

// read returns the pods of a budget if they are remembered.
func (m *members) read(pods cache.Indexer, b *budget) ([]*pod.Pod, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known := m.namespaces[b.namespace][b.uid]
	if known == nil || !known.of.selectsAs(b) {
		return nil, false
	}
	found := make([]*pod.Pod, 0, len(known.keys))
	for key := range known.keys {
		if of := podAt(pods, key); of != nil {
			found = append(found, of)
		}
	}
	return found, true
}

// find searches the pods of a budget, and remembers them if the budget still exists and there is room.
func (m *members) find(c *Cluster, b *budget) []*pod.Pod {
	if all := c.keysIn(b.namespace); m.isFull(b, len(all)) {
		// Without the lock, so that plans in other namespaces do not wait for each search.
		found, _ := c.search(b, all)
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found, keys := c.search(b, c.keysIn(b.namespace)) // Pods may have come before the lock was held.
	// If it is deleted later than this, forget waits for the lock.
	if now, _, _ := c.budgets.Get(b); now != nil && now.(*budget).uid == b.uid {
		in := m.namespaces[b.namespace]
		if in == nil {
			in = map[types.UID]*membership{}
			m.namespaces[b.namespace] = in
		}
		in[b.uid] = &membership{b, keys}
	}
	return found
}

// isFull reports whether the other budgets in a namespace with that many pods have too many pods to remember
// one more.
func (m *members) isFull(but *budget, pods int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	remembered := 0
	for uid, known := range m.namespaces[but.namespace] {
		if uid != but.uid {
			remembered += len(known.keys)
		}
	}
	return remembered > (plan.MostBudgets-1)*pods
}

// keysIn returns the keys of the pods in a namespace, which share their memory with the cache.
func (c *Cluster) keysIn(namespace string) []string {
	keys, err := c.podIndex.IndexKeys(cache.NamespaceIndex, namespace)
	if err != nil {
		// The only error is an index that was never added.
		panic(fmt.Sprintf("cluster: pods by namespace: %v", err))
	}
	return keys
}

// search compares pods, all in its namespace, with the selector of a budget.
func (c *Cluster) search(b *budget, all []string) (found []*pod.Pod, keys map[string]struct{}) {
	found, keys = []*pod.Pod{}, map[string]struct{}{}
	for _, key := range all {
		if of := podAt(c.podIndex, key); of != nil && b.selector.Matches(of.Labels()) {
			found, keys[key] = append(found, of), struct{}{}
		}
	}
	return found, keys
}

// podAt returns the pod with a key; nil if it is gone.
func podAt(pods cache.Indexer, key string) *pod.Pod {
	obj, _, _ := pods.GetByKey(key) // A cache returns no error.
	of, _ := obj.(*pod.Pod)
	return of
}

// podChanged records a pod that was added, changed or deleted.
func (m *members) podChanged(before, now *pod.Pod) {
	if before != nil && now != nil && before.Labels().Equal(now.Labels()) {
		return
	}
	of := now
	if of == nil {
		of = before
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.namespaces[of.Namespace()]
	if len(in) == 0 {
		return
	}
	key, has := cache.ObjectName{Namespace: of.Namespace(), Name: of.Name}.String(), labelsOf(of)
	selecting := 0
	for uid, known := range in {
		if now == nil || !known.of.selector.Matches(has) {
			delete(known.keys, key)
			continue
		}
		if selecting++; selecting > plan.MostBudgets {
			delete(in, uid)
			continue
		}
		known.keys[key] = struct{}{}
	}
}

// forget drops a deleted budget.
func (m *members) forget(b *budget) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.namespaces[b.namespace]
	if delete(in, b.uid); len(in) == 0 {
		delete(m.namespaces, b.namespace)
	}
}
