package guard

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// TestRollout limits how far, and on how many pods, sizes are lowered at a time.
func TestRollout(t *testing.T) {
	t.Parallel()
	const window, namespace = 45 * time.Second, "canaries"
	settings := fmt.Sprintf(`guard: {window: %v, unready: %v, maxUnproven: 100%%}
    podLabels:
      app:
        limited: {guard: {maxUnproven: 2}}
        steps: {guard: {maxChange: 10%%}}
        budgeted: {guard: {unready: 40s}}`, window, unready)
	s := newSuite(t, localcluster.Options{Nodes: "n4=2"}, configOf(1, settings))
	workloads := map[string]int{}
	for _, w := range []workload{{name: "limited", replicas: 4}, {name: "budgeted", replicas: 3}, {name: "never", replicas: 1}, {name: "steps", replicas: 1}} {
		w.work = calm
		s.apply(t, w.manifest(namespace))
		workloads[w.name] = w.replicas
	}
	for name, unavailable := range map[string]int{"budgeted": 1, "never": 0} {
		s.apply(t, fmt.Sprintf(`
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s, namespace: %[2]s}
spec: {maxUnavailable: %[3]d, selector: {matchLabels: {app: %[1]s}}}
`, name, namespace, unavailable))
		localcluster.Eventually(t, "the status of the budget", func() error {
			b, err := s.client.PolicyV1().PodDisruptionBudgets(namespace).Get(t.Context(), name, metav1.GetOptions{})
			if err == nil && (b.Status.ObservedGeneration == 0 || int(b.Status.DisruptionsAllowed) != unavailable) {
				err = fmt.Errorf("%+v", b.Status)
			}
			return err
		})
	}
	server := s.align(t, namespace, workloads)
	s.apply(t, configOf(1.25, settings))
	s.awaitPlans(t, server, "never", "DisruptionBudget", 1)
	s.awaitPlans(t, server, "limited", "WaitingForProof", 2)
	s.awaitPlans(t, server, "budgeted", "DisruptionBudget", 2)
	for _, tc := range []struct {
		name       string
		pods, most int
		within     time.Duration
	}{{"limited", 4, 2, window}, {"budgeted", 3, 1, 40 * time.Second}} {
		t.Run(tc.name, func(t *testing.T) {
			var times []time.Time
			for _, c := range s.seen.await(t, namespace, tc.name, tc.pods, "lowered", lowered) {
				times = append(times, c.changed)
			}
			slices.SortFunc(times, time.Time.Compare)
			// The times of resizes are whole seconds.
			for i := tc.most; i < len(times); i++ {
				if after := times[i].Sub(times[i-tc.most]); after < tc.within-2*time.Second {
					t.Errorf("%d pods were resized within %v: %v", tc.most+1, after, times)
				}
			}
		})
	}
	t.Run("steps", func(t *testing.T) {
		c := s.seen.await(t, namespace, "steps", 1, "lowered", lowered)[0]
		if c.changes != 3 { // To 90m, 81m and 80m.
			t.Errorf("%d changes: %v", c.changes, &c)
		}
	})
	t.Run("never", func(t *testing.T) {
		if c := s.seen.of(namespace, "never")[0]; c.changes > 0 {
			t.Errorf("it was resized: %v", &c)
		}
		if err := s.client.PolicyV1().PodDisruptionBudgets(namespace).Delete(context.Background(), "never", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		s.seen.await(t, namespace, "never", 1, "lowered", lowered)
	})
}
