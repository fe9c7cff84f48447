package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// stamping creates or deletes the policy that stamps originals. The change takes effect a
// moment later.
func (c *cluster) stamping(ctx context.Context, on bool) error {
	if on {
		return localcluster.Apply(ctx, c.Config(), deploy.StampOriginals())
	}
	if err := c.client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("delete the policy: %w", err)
	}
	return nil
}

// create creates a pod with or without originals from the policy. It repeats that until
// the API server has noticed the change to the policy.
func (c *cluster) create(ctx context.Context, pod *corev1.Pod, stamped bool) (*corev1.Pod, error) {
	if err := c.stamping(ctx, stamped); err != nil {
		return nil, err
	}
	for {
		if err := c.removeTemplate(ctx, pod.Name); err != nil {
			return nil, err
		}
		created, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{FieldManager: "kube-controller-manager"})
		if err != nil {
			return nil, fmt.Errorf("create a template: %w", err)
		}
		if _, is := contract.CPURequest.In(created.Annotations, created.Spec.Containers[0].Name); is == stamped {
			return created, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for the policy: %w", context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
