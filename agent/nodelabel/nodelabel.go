package nodelabel

import (
	"context"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// fieldManager is the field manager of the label.
const fieldManager = "workload-resizer-bench-node"

// Write sets the label nodetype.LabelOwnCPUModel of a node and changes nothing else.
func Write(ctx context.Context, nodes corev1client.NodeInterface, node, cpuModel string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]string{nodetype.LabelOwnCPUModel: cpuModel}}})
	if err != nil {
		return err
	}
	if _, err := nodes.Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}); err != nil {
		return fmt.Errorf("label node %q with its CPU model: %w", node, err)
	}
	return nil
}
