package loop

import (
	"cmp"
	"slices"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
)

// Status is the current state of the loop.
type Status struct {
	// Queue is the number of pods that wait for a worker.
	Queue int
	// Backlog is the number of pods that wait for their turn to be resized again.
	Backlog int
	// Pods counts all pods by their last decision, most first.
	Pods []PodCount
}

// PodCount counts the pods with the same decision and reason.
type PodCount struct {
	Decision plan.Decision
	// Reason is the first reason; empty for pods that must be resized.
	Reason contract.Reason
	Pods   int
}

// Status returns the state of the loop. Before the first plans it has no pods.
func (l *Loop) Status() Status {
	return Status{Queue: l.queue.Len(), Backlog: l.pacer.backlog(), Pods: l.ledger.tally()}
}

// tally counts the pods by their last decision, most first.
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
