package cluster

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// budgetChanged notes budgets that may permit a resize that they did not permit before.
func (c *Cluster) budgetChanged(old, obj any) {
	before, _ := old.(*workload.Budget)
	now, _ := obj.(*workload.Budget)
	if c.members.BudgetChanged(before, now) {
		c.relief.add(before.Namespace())
	}
}

// reliefPause is the least time between two reports of budgets that permit more. The number of disruptions
// that a budget allows changes whenever one of its pods becomes ready or not, many times a second while a large
// workload is rolled out. Each report has all pods planned again that wait in the namespace.
const reliefPause = 10 * time.Second

// relief has the namespaces in which a budget permits more than before, until they are reported.
type relief struct {
	mu         sync.Mutex
	namespaces map[string]struct{}
	// some has an element if there are namespaces.
	some chan struct{}
}

func newRelief() *relief {
	return &relief{namespaces: map[string]struct{}{}, some: make(chan struct{}, 1)}
}

// add adds a namespace.
func (r *relief) add(namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.namespaces[namespace] = struct{}{}
	select {
	case r.some <- struct{}{}:
	default:
	}
}

// take removes and returns the namespaces.
func (r *relief) take() map[string]struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.namespaces
	r.namespaces = map[string]struct{}{}
	return taken
}

// run reports namespaces until ctx is done: the first ones immediately, and then those that were added in a
// pause together.
func (r *relief) run(ctx context.Context, with clock.Clock, to Changes) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.some:
		}
		for namespace := range r.take() {
			to.Eased(namespace, contract.DisruptionBudget)
		}
		select {
		case <-ctx.Done():
			return
		case <-with.After(reliefPause):
		}
	}
}
