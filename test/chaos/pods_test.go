package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// template returns a pod of this shape on a node. Its node is also its controller,
// because any real object will do. In a world with a source of usage, the controller is the pod's namespace,
// so that all pods of a shape are of one workload.
func (w *world) template(key types.NamespacedName, s *shape, node int) *corev1.Pod {
	on, controller := w.nodes[node], true
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: on.Name, UID: on.UID, Controller: &controller}
	if w.source != nil {
		owner.Kind, owner.Name, owner.UID = "Namespace", key.Namespace, w.source.owner
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name,
			OwnerReferences: []metav1.OwnerReference{owner},
		},
		Spec: s.spec(on.Name),
	}
}

// create creates a pod of this shape on a node, and its namespace if it does not exist.
// It returns the pod's name.
func (w *world) create(t *testing.T, namespace, name string, s *shape, node int) types.NamespacedName {
	t.Helper()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	if _, err := w.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	var created *corev1.Pod
	localcluster.Eventually(t, "pod "+name+" to be created, for which its namespace needs a ServiceAccount", func() (err error) {
		created, err = w.client.CoreV1().Pods(namespace).Create(t.Context(), w.template(key, s, node), metav1.CreateOptions{})
		return err
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.created[key] = created
	return key
}

// replace deletes a pod and creates another one with its name.
func (w *world) replace(ctx context.Context, key types.NamespacedName, s *shape, node int) (*corev1.Pod, error) {
	pods := w.client.CoreV1().Pods(key.Namespace)
	if err := pods.Delete(ctx, key.Name, now); err != nil {
		return nil, fmt.Errorf("delete the old pod: %w", err)
	}
	created, err := pods.Create(ctx, w.template(key, s, node), metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create the new pod: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.created[key] = created
	return created, nil
}

// createMixed creates n pods of all shapes on all nodes, in each of the namespaces in
// turn.
func (w *world) createMixed(t *testing.T, n int, namespaces ...string) {
	t.Helper()
	for i := range n {
		w.create(t, namespaces[i%len(namespaces)], fmt.Sprintf("pod-%d", i), &shapes[i%len(shapes)], i/2%len(w.nodes))
	}
	w.awaitRunning(t)
}

// awaitRunning waits until all pods run.
func (w *world) awaitRunning(t *testing.T) {
	t.Helper()
	localcluster.Eventually(t, "all pods to run", func() error {
		for key := range w.created {
			if pod := w.pod(key); pod == nil || pod.Status.Phase != corev1.PodRunning {
				return fmt.Errorf("%s is not running", key)
			}
		}
		return nil
	})
}

// pod returns a pod as last seen, nil if it was never seen.
func (w *world) pod(key types.NamespacedName) *corev1.Pod {
	pod, err := w.pods.Pods(key.Namespace).Get(key.Name)
	if err != nil {
		return nil
	}
	return pod
}

// keys returns the names of all pods, in alphabetical order.
func (w *world) keys() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(w.created), func(a, b types.NamespacedName) int {
		return slices.Compare([]string{a.Namespace, a.Name}, []string{b.Namespace, b.Name})
	})
}
