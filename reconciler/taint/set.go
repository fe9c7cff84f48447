package taint

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

// Has reports whether a node has a taint that is one of those.
func Has(node *corev1.Node, those func(corev1.Taint) bool) bool {
	return slices.ContainsFunc(node.Spec.Taints, those)
}

// Without returns the taints of a node that are not one of those. The caller owns them.
func Without(node *corev1.Node, those func(corev1.Taint) bool) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(node.Spec.Taints), those)
}

// Set replaces the taints of a node, and returns the node. It fails if they were changed since the node was
// read, or if the node is a different one.
func Set(ctx context.Context, nodes corev1client.NodeInterface, node *corev1.Node, taints []corev1.Taint) (*corev1.Node, error) {
	patch, err := patchOf(node, taints)
	if err != nil {
		return nil, err
	}
	return nodes.Patch(ctx, node.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: contract.FieldManager})
}

// patchOf returns a JSON patch that replaces the taints.
func patchOf(node *corev1.Node, taints []corev1.Taint) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	const path = "/spec/taints"
	var before any // A test for null holds if there are none.
	if len(node.Spec.Taints) > 0 {
		before = node.Spec.Taints
	}
	operations := []operation{{"test", "/metadata/uid", node.UID}, {"test", path, before}, {"add", path, taints}}
	if len(taints) == 0 {
		operations[2] = operation{Op: "remove", Path: path}
	}
	return json.Marshal(operations)
}
