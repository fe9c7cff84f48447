package chaos

import (
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

// Namespaces by what happens in them: in shared, everything; in plain, only what makes
// sense if no other actor resizes pods.
const plain, shared = "chaos-plain", "chaos-shared"

// change makes random changes, as users and other programs would, or none.
func (c *crashes) change(t *testing.T, r *rand.Rand) {
	t.Helper()
	if r.IntN(2) == 0 {
		c.setTable(randomTable(r))
	}
	if r.IntN(4) == 0 {
		c.setNodeType(t, c.nodes[r.IntN(len(c.nodes))].Name, nodeTypes[r.IntN(len(nodeTypes))])
	}
	if r.IntN(3) == 0 {
		c.changeHold(t, r)
	}
	keys := c.keys()
	anyOf := func() types.NamespacedName { return keys[r.IntN(len(keys))] }
	if r.IntN(3) == 0 {
		c.crowd(t, r, anyOf(), 1)
	}
	if r.IntN(2) == 0 {
		if _, err := c.replace(t.Context(), anyOf(), &shapes[r.IntN(len(shapes))], r.IntN(len(c.nodes))); err != nil {
			t.Fatal(err)
		}
	}
	for range r.IntN(4) {
		if key := anyOf(); key.Namespace == shared {
			c.resizeByAnother(t, r, key)
		}
	}
	if key := anyOf(); key.Namespace == shared && r.IntN(4) == 0 {
		c.crowd(t, r, key, 12)
	}
	if r.IntN(6) == 0 {
		c.debug(t, anyOf())
	}
}

// changeHold restores or pauses a pod, a workload or a namespace, or ends such holds.
func (c *crashes) changeHold(t *testing.T, r *rand.Rand) {
	t.Helper()
	key := c.keys()[r.IntN(len(c.created))]
	scope := hold.Scope{Namespace: key.Namespace}
	switch r.IntN(4) {
	case 0:
	case 1:
		if controller := metav1.GetControllerOf(c.created[key]); controller != nil {
			scope.Workload = workload.Workload{Kind: controller.Kind, Name: controller.Name}
		}
	default:
		scope.Pod, scope.UID = key.Name, c.created[key].UID
	}
	switch r.IntN(5) {
	case 0, 1:
		c.holds.put(hold.Restore, scope)
	case 2:
		c.holds.put(hold.Pause, scope)
	case 3:
		c.holds.release(scope)
	default:
		c.holds.releaseAll([]hold.Kind{hold.Restore, hold.Pause}[r.IntN(2)])
	}
}

func (c *crashes) podsOf(key types.NamespacedName) typedv1.PodInterface {
	return c.client.CoreV1().Pods(key.Namespace)
}

// get returns the pod from the API server.
func (c *crashes) get(t *testing.T, key types.NamespacedName) *corev1.Pod {
	t.Helper()
	pod, err := c.podsOf(key).Get(t.Context(), key.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// marked reports whether the pod has managed fields or annotations of the reconciler.
func marked(pod *corev1.Pod) bool {
	for _, m := range pod.ManagedFields {
		if m.Manager == contract.FieldManager {
			return true
		}
	}
	return len(ours(pod)) > 0
}
