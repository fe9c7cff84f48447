package startup

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Tainted reports whether a node has the startup taint.
func Tainted(node *corev1.Node) bool { return slices.ContainsFunc(node.Spec.Taints, ours) }

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

// removal returns a JSON patch that removes the startup taint of this node, and fails if the
// taints were changed in the meantime or if the node is a different one.
func removal(node *corev1.Node) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	left := slices.DeleteFunc(slices.Clone(node.Spec.Taints), ours)
	operations := []operation{
		{"test", "/metadata/uid", node.UID},
		{"test", "/spec/taints", node.Spec.Taints},
		{"replace", "/spec/taints", left},
	}
	if len(left) == 0 {
		operations[2] = operation{Op: "remove", Path: "/spec/taints"}
	}
	return json.Marshal(operations)
}

// remove removes the startup taint of a node.
func remove(ctx context.Context, nodes corev1client.NodeInterface, node *corev1.Node) error {
	patch, err := removal(node)
	if err != nil {
		return err
	}
	if _, err := nodes.Patch(ctx, node.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: contract.FieldManager}); err != nil {
		return fmt.Errorf("remove the startup taint of node %q: %w", node.Name, err)
	}
	return nil
}
