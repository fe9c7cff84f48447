package reconciler

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// turnstile is a limiter that lets one request pass per token.
type turnstile struct {
	flowcontrol.RateLimiter
	*gate
	tokens chan struct{}
}

func (l turnstile) Wait(ctx context.Context) error {
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	select {
	case <-l.tokens:
		return nil
	case <-l.opened:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	s := newReplicas(t)
	a := s.start(t, "a")
	a.awaitLead(t)
	s.awaitSizes(t, "80m")
	a.awaitReasons(t, contract.AlreadyAligned) // All records are written.

	t.Run("between a resize and its record, a freeze permits the record only", func(t *testing.T) {
		turns := turnstile{gate: newGate(), tokens: make(chan struct{})}
		a.rate.use(turns)
		s.source.Set(performance(2))
		turns.awaitWaiting(t)
		var resizes, writes int64
		// A resize fails if something else, such as the node controller, has just changed the pod.
		for tries := 0; len(s.with(t, "50m")) == 0; tries++ {
			if tries == 10 {
				t.Fatal("no resize succeeds")
			}
			resizes, writes = a.podResizes.Load(), a.podWrites.Load()
			turns.tokens <- struct{}{} // Originals are recorded, so the first write is a resize.
			localcluster.Eventually(t, "a resize", func() error {
				if got := a.podResizes.Load() - resizes; got != 1 {
					return fmt.Errorf("%d resizes", got)
				}
				return nil
			})
			turns.awaitWaiting(t)
		}
		if _, err := a.holds.Freeze(t.Context(), hold.Freeze{Reason: "test", Author: "ann"}); err != nil {
			t.Fatal(err)
		}
		close(turns.opened)
		a.awaitReasons(t, contract.Frozen)
		if resized, wrote := a.podResizes.Load()-resizes, a.podWrites.Load()-writes; resized != 1 || wrote != 2 {
			t.Errorf("%d resizes and %d writes, want the resize and its record", resized, wrote)
		}
		s.recorded(t, "50m", 1)
		if _, err := a.holds.Unfreeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.awaitSizes(t, "50m")
	})

	t.Run("no resize begins more than a second after kubectl has frozen the cluster", func(t *testing.T) {
		a.limit(10)
		s.source.Set(performance(1.25))
		a.awaitWrites(t, 4)
		s.freezes(t, a, "maybe", contract.Frozen)
		if left := s.sized("50m"); left == 0 {
			t.Fatal("the freeze came too late for this test")
		}
		s.thaw(t)
		a.limit(0)
		s.awaitSizes(t, "80m")
	})

	t.Run("a freeze outranks a restore in progress, which continues after it", func(t *testing.T) {
		a.limit(10)
		if _, err := a.holds.Put(t.Context(), hold.Hold{Kind: hold.Restore, Scope: hold.Scope{Namespace: "default"}}); err != nil {
			t.Fatal(err)
		}
		a.awaitWrites(t, 4)
		s.freezes(t, a, "true", contract.Frozen, contract.Restored)
		if left := s.sized("80m"); left == 0 {
			t.Fatal("the freeze came too late for this test")
		}
		s.thaw(t)
		a.limit(0)
		s.awaitSizes(t, "100m")
		a.awaitReasons(t, contract.Restored)
	})
}

// freezes freezes the cluster as kubectl does, waits until all pods are skipped for the given
// reasons, and checks that nothing was resized later than a second after the freeze.
func (s *replicas) freezes(t *testing.T, by *replica, value string, reasons ...contract.Reason) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: contract.DefaultNames.Freeze}, Data: map[string]string{"frozen": value}}
	if _, err := s.client.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	frozen := time.Now()
	by.awaitReasons(t, reasons...)
	if late := time.Unix(0, by.lastResize.Load()).Sub(frozen); late > time.Second {
		t.Errorf("a resize began %v after the freeze", late)
	}
}

func (s *replicas) thaw(t *testing.T) {
	t.Helper()
	if err := s.client.CoreV1().ConfigMaps("default").Delete(t.Context(), contract.DefaultNames.Freeze, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitReasons waits until the last plan of all pods has one of the reasons, and nothing is queued.
func (c *replica) awaitReasons(t *testing.T, reasons ...contract.Reason) {
	t.Helper()
	localcluster.Eventually(t, fmt.Sprintf("all pods to have one of the reasons %v", reasons), func() error {
		now, pods := c.Status(), 0
		for _, count := range now.Pods {
			for _, reason := range reasons {
				if count.Reason == reason {
					pods += count.Pods
				}
			}
		}
		if pods != replicaPods || now.Queue > 0 {
			return fmt.Errorf("the status is %v", now)
		}
		return nil
	})
}

// recorded checks that this many pods have a size, and that all of these have its record.
func (s *replicas) recorded(t *testing.T, cpu string, want int) {
	t.Helper()
	found := s.with(t, cpu)
	for _, p := range found {
		if p.Annotations[contract.AppliedInstanceType] != "n4" || p.Annotations[contract.AppliedAt] == "" {
			t.Errorf("%s has no record: %v", p.Name, p.Annotations)
		}
	}
	if len(found) != want {
		t.Errorf("%d pods have %s, want %d", len(found), cpu, want)
	}
}

// with returns the pods that request that much CPU now, while sized may not know it yet.
func (s *replicas) with(t *testing.T, cpu string) []corev1.Pod {
	t.Helper()
	pods, err := s.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Spec.Containers[0].Resources.Requests.Cpu().String() != cpu })
}
