package startup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/taint"
)

// Tainted reports whether a node has the startup taint.
func Tainted(node *corev1.Node) bool { return taint.Has(node, ours) }

func ours(t corev1.Taint) bool { return t.Key == contract.StartupTaint }

// remove removes the startup taint of a node.
func remove(ctx context.Context, nodes corev1client.NodeInterface, node *corev1.Node) error {
	if _, err := taint.Set(ctx, nodes, node, taint.Without(node, ours)); err != nil {
		return fmt.Errorf("remove the startup taint of node %q: %w", node.Name, err)
	}
	return nil
}
