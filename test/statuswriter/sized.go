package statuswriter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// sized is the generation in which a pod was first seen to request its current sizes.
type sized struct {
	uid        types.UID
	sizes      []corev1.ResourceRequirements
	generation int64
}

// sizedIn returns the generation in which the pod began to request its current sizes.
// Resize conditions have this generation: a kubelet decides again only if sizes change,
// and not on other changes to the spec.
func (w *Writer) sizedIn(key string, pod *corev1.Pod) int64 {
	now := sized{uid: pod.UID, generation: pod.Generation}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			now.sizes = append(now.sizes, *sizes(&containers[i]))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if seen := w.sized[key]; seen.uid == now.uid && equality.Semantic.DeepEqual(seen.sizes, now.sizes) {
		return seen.generation
	}
	w.sized[key] = now
	return now.generation
}

// forget forgets a deleted pod.
func (w *Writer) forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.sized, key)
}
