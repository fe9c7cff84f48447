package statuswriter_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// many resizes many pods while their annotations change, so that many of the writer's patches
// are outdated when they arrive.
func (s *suite) many(t *testing.T) {
	const pods, writers = 300, 16
	each := func(do func(name string) error) {
		t.Helper()
		var next atomic.Int32
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for i := next.Add(1); i <= pods; i = next.Add(1) {
					if err := do(fmt.Sprintf("many-%d", i)); err != nil {
						t.Errorf("pod %d: %v", i, err)
					}
				}
			})
		}
		group.Wait()
	}
	all := func(what, cpu string) {
		t.Helper()
		begin := time.Now()
		localcluster.Eventually(t, what, func() error {
			list, err := s.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "many"})
			if err != nil {
				return err
			}
			done := 0
			for i := range list.Items {
				if pod := &list.Items[i]; running(pod) == nil && has(cpu, cpu)(pod) == nil {
					done++
				}
			}
			if done < pods {
				return fmt.Errorf("%d of %d pods", done, pods)
			}
			return nil
		})
		t.Logf("%s: %.1f s after the last write", what, time.Since(begin).Seconds())
	}
	no := false
	begin := time.Now()
	each(func(name string) error {
		_, err := s.client.CoreV1().Pods(namespace).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"many": ""}},
			Spec: corev1.PodSpec{
				NodeName: played, AutomountServiceAccountToken: &no,
				Containers: []corev1.Container{{Name: "app", Image: "none", Resources: sizes("1")}},
			},
		}, metav1.CreateOptions{})
		return err
	})
	all("pods to run", "1")
	t.Logf("%d pods were created and run after %.1f s", pods, time.Since(begin).Seconds())
	begin = time.Now()
	each(func(name string) error {
		if err := s.resize(t.Context(), name, "2"); err != nil {
			return err
		}
		_, err := s.client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{})
		return err
	})
	all("resizes to be actuated", "2")
	t.Logf("%d pods were resized, annotated and actuated after %.1f s", pods, time.Since(begin).Seconds())
}
