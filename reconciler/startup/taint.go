package startup

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/taint"
)

// Tainted reports whether a node has the startup taint.
func Tainted(node *corev1.Node) bool { return taint.Has(node, ours) }

func ours(t corev1.Taint) bool { return t.Key == contract.StartupTaint }

// readySince returns when a node became ready, by its own clock; false if it is not ready.
func readySince(node *corev1.Node) (time.Time, bool) {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.LastTransitionTime.Time, c.Status == corev1.ConditionTrue
		}
	}
	return time.Time{}, false
}

// remove removes the startup taint of a node.
func remove(ctx context.Context, nodes corev1client.NodeInterface, node *corev1.Node) error {
	if _, err := taint.Set(ctx, nodes, node, taint.Without(node, ours)); err != nil {
		return fmt.Errorf("remove the startup taint of node %q: %w", node.Name, err)
	}
	return nil
}
