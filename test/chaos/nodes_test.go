package chaos

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// addNode creates a node with room for all pods.
func (w *world) addNode(t *testing.T, name, nodeType string) {
	t.Helper()
	most := list("100000", "100Ti")
	most[corev1.ResourcePods] = resource.MustParse("1000")
	node, err := w.client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{nodetype.LabelGCPMachineFamily: nodeType}},
		Status: corev1.NodeStatus{
			Allocatable: most, Capacity: most,
			// If the version of the kubelet is unknown, memory limits are not lowered.
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: w.version(t)},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.nodes, w.nodeTypes[name] = append(w.nodes, node), nodeType
}

// version returns the version of the API server, which the simulated kubelets also have.
func (w *world) version(t *testing.T) string {
	t.Helper()
	info, err := w.client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	return info.GitVersion
}

// setNodeType changes the type of a node.
func (w *world) setNodeType(t *testing.T, node, nodeType string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.nodeTypes[node] = nodeType
	w.noteRule()
	w.patchNode(t, node, fmt.Sprintf(`{"metadata":{"labels":{%q:%q}}}`, nodetype.LabelGCPMachineFamily, nodeType))
}

func (w *world) patchNode(t *testing.T, node, patch string) {
	t.Helper()
	if _, err := w.client.CoreV1().Nodes().Patch(t.Context(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}
