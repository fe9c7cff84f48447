package reconciler

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// UID returns the uid of the pod that has the name now. The error is a
// NotReadyError or a PodNotFoundError.
func (r *Reconciler) UID(name types.NamespacedName) (types.UID, error) {
	if err := r.cacheReady(); err != nil {
		return "", &NotReadyError{CacheNotReady, err}
	}
	pod, err := r.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil {
		return "", &PodNotFoundError{name}
	}
	return pod.UID, nil
}

// Count counts the pods of a namespace, or all if that is empty. The error is a
// NotReadyError.
func (r *Reconciler) Count(namespace string) (int, error) {
	if err := r.cacheReady(); err != nil {
		return 0, &NotReadyError{CacheNotReady, err}
	}
	pods, err := r.pods.Pods(namespace).List(labels.Everything())
	return len(pods), err
}
