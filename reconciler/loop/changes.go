package loop

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Changed implements cluster.Changes.
func (l *Loop) Changed(pod types.NamespacedName) { l.queue.Add(pod) }

// Eased implements cluster.Changes: it queues the pods in a namespace or on a node whose last
// plan had one of these reasons, those of the highest priority first: the first one that is planned takes the room. For pods
// that are being planned, it counts the change.
func (l *Loop) Eased(place string, reasons ...contract.Reason) {
	l.changes.Add(1)
	held := l.ledger.held(place, reasons...)
	if len(held) > 1 {
		priorities := make(map[types.NamespacedName]int32, len(held))
		for _, name := range held {
			if p := l.Cluster.Pods(name.Namespace).Get(name.Name); p != nil {
				priorities[name] = p.Priority()
			}
		}
		slices.SortFunc(held, func(a, b types.NamespacedName) int { return cmp.Compare(priorities[b], priorities[a]) })
	}
	for _, pod := range held {
		l.queue.Add(pod)
	}
	if l.BudgetEased != nil && slices.Contains(reasons, contract.DisruptionBudget) {
		l.BudgetEased(place)
	}
}

// enqueueAffected queues the pods whose plans may differ under the new rules, and pods
// without a plan. It does not look at pods that MayAffect rules out: for them, both
// rules are equivalent.
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
	for _, name := range l.ledger.allUnaffected(before, now, affected) {
		l.queue.Add(name)
	}
}
