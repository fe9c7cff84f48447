package chaos

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

// Namespaces by what people do in them: nothing but pause, restore as well, or
// resize pods themselves. What somebody else resized is not restored, so that the
// last two do not go together.
const plain, held, edited = "chaos-plain", "chaos-held", "chaos-edited"

// change has people change something, or nothing.
func (w *world) change(t *testing.T, r *rand.Rand) {
	t.Helper()
	if r.IntN(2) == 0 {
		w.setTable(randomTable(r))
	}
	if r.IntN(4) == 0 {
		w.setNodeType(t, w.nodes[r.IntN(len(w.nodes))].Name, nodeTypes[r.IntN(len(nodeTypes))])
	}
	if r.IntN(4) == 0 {
		w.changeHold(r)
	}
	keys := w.keys()
	if r.IntN(3) == 0 {
		w.label(t, keys[r.IntN(len(keys))], r.Uint64())
	}
	if r.IntN(2) == 0 {
		if _, err := w.replace(t.Context(), keys[r.IntN(len(keys))], &shapes[r.IntN(len(shapes))], r.IntN(len(w.nodes))); err != nil {
			t.Fatal(err)
		}
	}
	for range r.IntN(3) {
		if key := keys[r.IntN(len(keys))]; key.Namespace == edited {
			w.resizeBy(t, key, 2)
		}
	}
}

func (w *world) changeHold(r *rand.Rand) {
	scope := hold.Scope{Namespace: []string{plain, held, edited, held}[r.IntN(4)]}
	switch {
	case r.IntN(2) == 0:
		w.holds.release(scope)
	case scope.Namespace == held && r.IntN(2) == 0:
		w.holds.put(hold.Restore, scope)
	default:
		w.holds.put(hold.Pause, scope)
	}
}

// label is an edit that has nothing to do with sizes.
func (w *world) label(t *testing.T, key types.NamespacedName, value uint64) {
	t.Helper()
	patch := []byte(`{"metadata":{"labels":{"chaos":"` + resource.NewQuantity(int64(value>>1), resource.DecimalSI).String() + `"}}}`)
	if _, err := w.client.CoreV1().Pods(key.Namespace).Patch(t.Context(), key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "they"}); err != nil {
		t.Fatal(err)
	}
}

// resizeBy is a resize by somebody else, who multiplies the cpu of a container. A
// pod without originals is let be: what came before them counts as its author's.
func (w *world) resizeBy(t *testing.T, key types.NamespacedName, factor int64) {
	t.Helper()
	pods := w.client.CoreV1().Pods(key.Namespace)
	pod, err := pods.Get(t.Context(), key.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := &pod.Spec.Containers[0]
	if _, recorded := contract.CPURequest.In(pod.Annotations, c.Name); !recorded || restarts(c, corev1.ResourceCPU) {
		return
	}
	for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
		if q, ok := list[corev1.ResourceCPU]; ok {
			list[corev1.ResourceCPU] = *resource.NewMilliQuantity(q.MilliValue()*factor, resource.DecimalSI)
		}
	}
	if _, err := pods.UpdateResize(t.Context(), key.Name, pod, metav1.UpdateOptions{FieldManager: "they"}); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
}
