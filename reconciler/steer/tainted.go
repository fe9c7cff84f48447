package steer

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/taint"
)

// Tainted returns how many of the nodes have the taint.
func Tainted(nodes []*corev1.Node) (n int) {
	for _, node := range nodes {
		if taint.Has(node, ours) {
			n++
		}
	}
	return n
}

// Overloaded returns how many nodes have the taint; in a dry run, also those that would have it.
func (s *Steer) Overloaded(nodes []*corev1.Node) (n int) {
	for _, node := range nodes {
		if taint.Has(node, ours) || taint.Has(s.wouldBe(node), ours) {
			n++
		}
	}
	return n
}

// wouldBe returns a node as it would be without the dry run. It may be called on nil.
func (s *Steer) wouldBe(node *corev1.Node) *corev1.Node {
	if s == nil || !s.DryRun {
		return node
	}
	if would := s.would.Load(); would != nil {
		if w := (*would)[node.Name]; w != nil && w.UID == node.UID {
			return s.after(node, w)
		}
	}
	return node
}

// Explain says that a node has the taint, and the time since then, or what would be so without a dry run; empty if it has none.
// It may be called on nil.
func (s *Steer) Explain(node *corev1.Node) string {
	would := s.wouldBe(node)
	switch has, wouldHave := taint.Has(node, ours), taint.Has(would, ours); {
	case has && wouldHave:
		return fmt.Sprintf("%s is overloaded, and has the taint %s, so new pods start elsewhere if they can", node.Name, taintText(node))
	case has:
		return fmt.Sprintf("%s is no longer overloaded, and would lose the taint %s, but the server runs with --dry-run", node.Name, taintText(node))
	case wouldHave:
		return fmt.Sprintf("%s is overloaded, and would have the taint %s, but the server runs with --dry-run", node.Name, taintText(would))
	}
	return ""
}

// taintText describes the taint of a node that has it.
func taintText(node *corev1.Node) string {
	t, when := &node.Spec.Taints[slices.IndexFunc(node.Spec.Taints, ours)], ""
	if at := since(node); at != nil {
		when = " since " + at.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s:%s%s", t.Key, t.Effect, when)
}

// since returns when a node got the taint; nil if it has none, or that is not known.
func since(node *corev1.Node) *metav1.Time {
	for i := range node.Spec.Taints {
		if t := &node.Spec.Taints[i]; ours(*t) {
			return t.TimeAdded
		}
	}
	return nil
}

// longest returns how long the node that has had the taint longest has had it; 0 if no node has it.
func (s *Steer) longest() (most time.Duration) {
	for _, node := range s.Cluster.Nodes() {
		if at := since(node); at != nil {
			most = max(most, s.Clock.Since(at.Time))
		}
	}
	return most
}
