package e2e

import (
	"context"
	"fmt"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/deploy"
)

// nextHolder returns a function that waits until the Lease has another holder than now,
// or none, which is "". It misses no change in between.
func (p *plane) nextHolder(t *testing.T) func(context.Context) (string, error) {
	t.Helper()
	leases := p.client.CoordinationV1().Leases(deploy.Namespace)
	now, err := leases.Get(t.Context(), "workload-resizer", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch, err := leases.Watch(t.Context(), metav1.SingleObject(now.ObjectMeta))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Stop)
	return func(ctx context.Context) (string, error) {
		for {
			select {
			case event := <-watch.ResultChan():
				lease, ok := event.Object.(*coordinationv1.Lease)
				if !ok {
					return "", fmt.Errorf("watch the Lease: %v %v", event.Type, event.Object)
				}
				if holder := *lease.Spec.HolderIdentity; holder != *now.Spec.HolderIdentity {
					return holder, nil
				}
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
	}
}
