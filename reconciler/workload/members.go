package workload

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Pods finds pods by keys.
type Pods interface {
	// Keys returns the keys of the pods in a namespace, which share their memory with the cache.
	Keys(namespace string) []string
	// At returns the pod with a key; nil if it is gone.
	At(key string) *pod.Pod
}

// Members remembers the pods that budgets select, from the first plan that needs them. Without it, each plan
// would compare all pods in a namespace, which may be tens of thousands, with a selector.
//
// It remembers the keys of pods. The pods come from the cache, which may be ahead of its event handlers: a
// plan must see each resize that the loop has seen.
//
// Users who may create budgets must not be able to fill the memory, so it remembers at most a few budgets for
// each pod.
type Members struct {
	in Pods
	// exists reports whether a budget exists, and budgets returns those of a namespace, in any order.
	exists  func(*Budget) bool
	budgets func(namespace string) []*Budget

	mu sync.RWMutex
	// namespaces has the budgets of each namespace by their uid.
	namespaces map[string]map[types.UID]*membership
}

// membership is a budget and the keys of the pods that it selects.
type membership struct {
	of   *Budget
	keys map[string]struct{}
}

// NewMembers returns members that find pods and budgets in caches: exists reports whether a budget exists, and budgets
// returns those of a namespace, in any order.
func NewMembers(in Pods, exists func(*Budget) bool, budgets func(namespace string) []*Budget) *Members {
	return &Members{in: in, exists: exists, budgets: budgets, namespaces: map[string]map[types.UID]*membership{}}
}

// Of returns the pods that a budget selects, in any order. The caller owns the slice.
func (m *Members) Of(b *Budget) []*pod.Pod {
	if pods, known := m.read(b); known {
		return pods
	}
	return m.find(b)
}

// read returns the pods of a budget if they are remembered.
func (m *Members) read(b *Budget) ([]*pod.Pod, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	known := m.namespaces[b.namespace][b.uid]
	if known == nil || !known.of.selectsAs(b) {
		return nil, false
	}
	found := make([]*pod.Pod, 0, len(known.keys))
	for key := range known.keys {
		if of := m.in.At(key); of != nil {
			found = append(found, of)
		}
	}
	return found, true
}

// find searches the pods of a budget, and remembers them if the budget still exists and there is room.
func (m *Members) find(b *Budget) []*pod.Pod {
	if all := m.in.Keys(b.namespace); m.isFull(b, len(all)) {
		// Without the lock, so that plans in other namespaces do not wait for each search.
		found, _ := m.search(b, all)
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found, keys := m.search(b, m.in.Keys(b.namespace)) // Pods may have come before the lock was held.
	// If it is deleted later than this, forget waits for the lock.
	if m.exists(b) {
		in := m.namespaces[b.namespace]
		if in == nil {
			in = map[types.UID]*membership{}
			m.namespaces[b.namespace] = in
		}
		in[b.uid] = &membership{b, keys}
	}
	return found
}

// Remembered returns how many pods are remembered of each budget in a namespace.
func (m *Members) Remembered(namespace string) map[types.UID]int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	pods := map[types.UID]int{}
	for uid, known := range m.namespaces[namespace] {
		pods[uid] = len(known.keys)
	}
	return pods
}

// isFull reports whether the other budgets in a namespace with that many pods have too many pods to remember
// one more.
func (m *Members) isFull(but *Budget, pods int) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	remembered := 0
	for uid, known := range m.namespaces[but.namespace] {
		if uid != but.uid {
			remembered += len(known.keys)
		}
	}
	return remembered > (MostBudgets-1)*pods
}

// search compares pods, all in its namespace, with the selector of a budget.
func (m *Members) search(b *Budget, all []string) (found []*pod.Pod, keys map[string]struct{}) {
	found, keys = []*pod.Pod{}, map[string]struct{}{}
	for _, key := range all {
		if of := m.in.At(key); of != nil && b.selector.Matches(of.Labels()) {
			found, keys[key] = append(found, of), struct{}{}
		}
	}
	return found, keys
}

// PodChanged records a pod that was added, changed or deleted.
func (m *Members) PodChanged(before, now *pod.Pod) {
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
	key, has := of.Namespace()+"/"+of.Name, labelsOf(of)
	selecting := 0
	for uid, known := range in {
		if now == nil || !known.of.selector.Matches(has) {
			delete(known.keys, key)
			continue
		}
		if selecting++; selecting > MostBudgets {
			delete(in, uid)
			continue
		}
		known.keys[key] = struct{}{}
	}
}

// BudgetChanged records a budget that was added, changed or deleted, and reports whether it may permit a resize that it
// did not permit before: it allows more disruptions, selects other pods, or is gone. A new budget permits nothing.
func (m *Members) BudgetChanged(before, now *Budget) (eases bool) {
	switch {
	case before == nil:
		return false
	case now == nil || now.uid != before.uid:
		m.forget(before)
		return true
	}
	return now.Allowed > before.Allowed || !now.selectsAs(before)
}

// forget drops a deleted budget.
func (m *Members) forget(b *Budget) {
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.namespaces[b.namespace]
	if delete(in, b.uid); len(in) == 0 {
		delete(m.namespaces, b.namespace)
	}
}
