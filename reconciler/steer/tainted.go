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

// Explain says that a node has the taint, and the time since then; empty if it has none.
func Explain(node *corev1.Node) string {
	i := slices.IndexFunc(node.Spec.Taints, ours)
	if i < 0 {
		return ""
	}
	t, when := &node.Spec.Taints[i], ""
	if at := since(node); at != nil {
		when = " since " + at.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("%s is overloaded, and has the taint %s:%s%s, so new pods start elsewhere if they can", node.Name, t.Key, t.Effect, when)
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
