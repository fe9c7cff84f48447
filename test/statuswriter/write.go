package statuswriter

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// fieldManager is the field manager of kubelets.
const fieldManager = "kubelet"

// work processes one pod of the queue. It returns false after the queue was shut down.
func (w *Writer) work(ctx context.Context) bool {
	key, shutdown := w.queue.Get()
	if shutdown {
		return false
	}
	defer w.queue.Done(key)
	err := w.write(ctx, key)
	switch {
	case err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		// If the pod has changed in the meantime, that change puts it into the
		// queue again.
		w.queue.Forget(key)
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err):
		w.queue.Forget(key)
		w.mu.Lock()
		w.refused = errors.Join(w.refused, fmt.Errorf("pod %s: %w", key, err))
		w.mu.Unlock()
	default:
		w.queue.AddRateLimited(key)
	}
	return true
}

// write writes the pod's next status, if it differs from the current one.
func (w *Writer) write(ctx context.Context, key string) error {
	found, exists, err := w.pods.GetStore().GetByKey(key)
	if err != nil {
		return err
	}
	if !exists {
		w.forget(key)
		return nil
	}
	pod := found.(*corev1.Pod)
	if !w.plays(pod) {
		return nil
	}
	pods := w.client.CoreV1().Pods(pod.Namespace)
	if pod.DeletionTimestamp != nil {
		if pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0 {
			return nil // Only finalizers keep the pod.
		}
		return pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
		})
	}
	k, err := w.kubeletOf(ctx, pod.Spec.NodeName)
	if err != nil {
		return err
	}
	status := nextStatus(pod, k, w.sizedIn(key, pod), w.options.Outcome)
	if equality.Semantic.DeepEqual(&pod.Status, status) {
		return nil
	}
	patch, err := statusPatch(pod, status)
	if err != nil {
		return err
	}
	_, err = pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "status")
	return err
}

// plays reports whether the pod is on a node that the writer simulates, and has not ended.
func (w *Writer) plays(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.NodeName == "" {
		return false
	}
	return len(w.options.Nodes) == 0 || slices.Contains(w.options.Nodes, pod.Spec.NodeName)
}
