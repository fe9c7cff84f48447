package loop

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// Status is the current state of the loop.
type Status struct {
	// Queue is the number of pods that wait for a worker.
	Queue int
	// Backlog is the number of pods that wait for their turn, of which WithoutRoom wait until
	// resizes may free more.
	Backlog, WithoutRoom int
	// Pods counts all pods by their last decision, most first.
	Pods []PodCount
	// WithoutRatio has the types of nodes whose pods are skipped because the type has no ratio
	// or is not known, most pods first.
	WithoutRatio []WithoutRatio
}

// WithoutRatio is a type of nodes that pods cannot be sized for.
type WithoutRatio struct {
	// NodeType is empty for nodes without a label that names their type.
	NodeType string
	// Nodes and Pods count the pods that are skipped, and their nodes.
	Nodes, Pods int
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
	return Status{Queue: l.queue.Len(), Backlog: l.pacer.backlog(), WithoutRoom: l.pacer.withoutRoom(), Pods: l.ledger.tally(), WithoutRatio: l.withoutRatio()}
}

// withoutRatio counts the pods whose last decision was to skip them for the type of their node, by
// that type.
func (l *Loop) withoutRatio() []WithoutRatio {
	rules, known := l.Cluster.Rules()
	if !known {
		return nil
	}
	byType := map[string]*WithoutRatio{}
	nodes := map[string]bool{}
	for _, name := range l.ledger.skippedFor(contract.UnknownNodeType, contract.NodeTypeUnlabelled) {
		of := l.Cluster.Pods(name.Namespace).Get(name.Name)
		if of == nil {
			continue // It was deleted just now.
		}
		ruling := l.Planner.Rule(of, l.Cluster.Node(of), "", rules.Table)
		found := byType[ruling.NodeType]
		if found == nil {
			found = &WithoutRatio{NodeType: ruling.NodeType}
			byType[ruling.NodeType] = found
		}
		found.Pods++
		if !nodes[of.Node()] {
			nodes[of.Node()] = true
			found.Nodes++
		}
	}
	all := make([]WithoutRatio, 0, len(byType))
	for _, found := range byType {
		all = append(all, *found)
	}
	slices.SortFunc(all, func(a, b WithoutRatio) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.NodeType, b.NodeType))
	})
	return all
}

// skippedFor returns the pods that were skipped for one of these reasons.
func (l *ledger) skippedFor(reasons ...contract.Reason) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []types.NamespacedName
	if !slices.ContainsFunc(reasons, func(r contract.Reason) bool { return l.counts[verdict{plan.Skip, r}] > 0 }) {
		return nil // Usually, so that no pod has to be looked at.
	}
	for name, e := range l.pods {
		if e.decision == plan.Skip && slices.Contains(reasons, e.reason) {
			found = append(found, name)
		}
	}
	return found
}

// verdictOn returns the last verdict on a pod; false if there is none.
func (l *ledger) verdictOn(of *pod.Pod) (verdict, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.pods[of.NamespacedName()]
	if e == nil || e.uid != of.UID {
		return verdict{}, false
	}
	return verdict{e.decision, e.reason}, true
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
