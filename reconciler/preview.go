package reconciler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// NotReadyError tells that plans cannot be made yet.
type NotReadyError struct {
	What NotReady
	Err  error
}

// NotReady is what is missing for plans.
type NotReady int

const (
	// RatiosNotReady: there is no ratio table.
	RatiosNotReady NotReady = iota
	// CacheNotReady: pods and nodes are not known.
	CacheNotReady
)

var errCacheNotReady = errors.New("pods and nodes are not read yet")

func (e *NotReadyError) Error() string { return "not ready: " + e.Err.Error() }
func (e *NotReadyError) Unwrap() error { return e.Err }

// PodNotFoundError tells that there is no such pod.
type PodNotFoundError struct{ Pod types.NamespacedName }

func (e *PodNotFoundError) Error() string {
	return fmt.Sprintf("there is no pod %q in namespace %q", e.Pod.Name, e.Pod.Namespace)
}

// Preview plans one pod as the loop would now. The error is a NotReadyError or a
// PodNotFoundError.
func (r *Reconciler) Preview(name types.NamespacedName) (*Plan, error) {
	if err := r.Ready(); err != nil {
		return nil, err
	}
	pod, err := r.pods.Pods(name.Namespace).Get(name.Name)
	if err != nil {
		return nil, &PodNotFoundError{name}
	}
	return r.Planner.Plan(pod, r.node(pod), r.Ratios.Table()), nil
}

// PreviewAll plans every pod of a namespace, of all if it is empty, ordered by
// namespace and name, all with the same table. The pods are those of the moment
// of the call. The error is a NotReadyError.
func (r *Reconciler) PreviewAll(ctx context.Context, namespace string) (iter.Seq[*Plan], error) {
	if err := r.Ready(); err != nil {
		return nil, err
	}
	pods, err := r.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	table := r.Ratios.Table()
	return func(yield func(*Plan) bool) {
		for _, pod := range pods {
			if ctx.Err() != nil || !yield(r.Planner.Plan(pod, r.node(pod), table)) {
				return
			}
		}
	}, nil
}
