package loop

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Changed implements cluster.Changes.
func (l *Loop) Changed(pod types.NamespacedName) { l.queue.Add(pod) }

// Eased implements cluster.Changes: it queues the pods of a namespace or node that were last
// left alone for one of these reasons. Those that are being planned now see the count go up.
func (l *Loop) Eased(place string, reasons ...contract.Reason) {
	l.changes.Add(1)
	for _, pod := range l.ledger.held(place, reasons...) {
		l.queue.Add(pod)
	}
}

// enqueueAffected queues the pods of which the rules say something else than
// what they were last planned with, and those that never were. Of pods that are not looked
// at, as nothing has changed for their nodes, both say the same.
func (l *Loop) enqueueAffected(before, now cluster.Rules) {
	affected := map[types.NamespacedName]bool{}
	for _, k := range l.Cluster.MayAffect(before, now) {
		name := k.NamespacedName()
		with, ok := l.ledger.plannedWith(name)
		if !ok || l.Cluster.Affects(k, with, now) {
			affected[name] = true
			l.queue.Add(name)
			continue
		}
		l.ledger.unaffected(name, with, now)
	}
	l.ledger.allUnaffected(before, now, affected)
}
