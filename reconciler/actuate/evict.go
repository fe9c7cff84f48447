package actuate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BudgetError means that a PodDisruptionBudget does not let a pod be evicted now.
type BudgetError struct{ Err error }

func (e *BudgetError) Error() string { return e.Err.Error() }
func (e *BudgetError) Unwrap() error { return e.Err }

// Evict evicts a pod in exactly this state, so that its controller creates it again: it never deletes one. Of a pod with a budget
// that is not ready, the API server only makes sure that it is the same pod, and still not ready. permit is called
// right before, as Config.Permit is. A *BudgetError is not final. Outdated reports whether the error only means that the pod
// has changed or is gone.
func (a *Actuator) Evict(ctx context.Context, pod *corev1.Pod, permit func(context.Context) error) error {
	if err := a.turn(ctx, false); err != nil {
		return err
	}
	if err := permit(ctx); err != nil {
		return err
	}
	var asked time.Duration
	err := a.Client.PolicyV1().Evictions(pod.Namespace).Evict(withAsked(ctx, &asked), &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}},
	})
	if err == nil {
		return nil
	}
	err = busy(fmt.Errorf("evict: %w", err), asked)
	if StatusCode(err) == http.StatusTooManyRequests && ofBudget(err) {
		return &BudgetError{err}
	}
	return err
}

// ofBudget reports whether the API server refuses an eviction because of a budget, and not because it is too busy.
func ofBudget(err error) bool {
	return apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}
