package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// labelNode gives a node a label that goes with the test.
func (c *cluster) labelNode(t *testing.T, node, key, value string) {
	t.Helper()
	set := func(ctx context.Context, value string) error {
		patch := fmt.Appendf(nil, `{"metadata": {"labels": {%q: %s}}}`, key, value)
		_, err := c.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	}
	if err := set(t.Context(), fmt.Sprintf("%q", value)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := set(context.WithoutCancel(t.Context()), "null"); err != nil {
			t.Error(err)
		}
	})
}
