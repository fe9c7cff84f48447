package loop

import (
	"cmp"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Status is how the loop does now.
type Status struct {
	// Queue is how many pods are to be looked at.
	Queue int
	// Backlog is how many pods wait for their turn to be sized anew.
	Backlog int
	// Pods are all pods by what was decided last, most first.
	Pods []PodCount
}

// PodCount counts pods that were decided the same way.
type PodCount struct {
	Decision plan.Decision
	// Reason is the first one; empty for pods that are to be resized.
	Reason contract.Reason
	Pods   int
}

// Status tells how the reconciler does. Before the first plans it has no pods.
func (l *Loop) Status() Status {
	return Status{Queue: l.queue.Len(), Backlog: l.pacer.backlog(), Pods: l.ledger.tally()}
}

// tally counts the pods by what was decided last, most first.
func (l *ledger) tally() []PodCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := make([]PodCount, 0, len(l.counts))
	for verdict, pods := range l.counts {
		counts = append(counts, PodCount{verdict.decision, verdict.reason, pods})
	}
	slices.SortFunc(counts, func(a, b PodCount) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(b.Decision, a.Decision), cmp.Compare(a.Reason, b.Reason))
	})
	return counts
}
