package loop

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// opening lets a loop open breakers until done returns nil.
func opening(t *testing.T, l *Loop, what string, done func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { l.openBreakers(ctx) })
	localcluster.Eventually(t, what, done)
	cancel()
	running.Wait()
}

func TestOpenBreakers(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Loop)
		tried  int
	}{
		"the leader":            {func(*Loop) {}, 1},
		"another replica":       {func(l *Loop) { l.Leader = following(true) }, 0},
		"a leader in a dry run": {func(l *Loop) { l.DryRun = true }, 0},
	} {
		t.Run(name+fmt.Sprintf(" opens %d", tc.tried), func(t *testing.T) {
			l, holds := hurt(t, 1, 1)
			tc.change(l)
			l.breakers.check()
			opening(t, l, "a check to begin", func() error {
				if len(l.breakers.due) > 0 {
					return errors.New("it has not")
				}
				return nil
			})
			if holds.attempts() != tc.tried {
				t.Errorf("%d attempts to open one", holds.attempts())
			}
		})
	}
	t.Run("workloads without pods are dropped from time to time", func(t *testing.T) {
		l, _ := hurt(t, 1, 1)
		l.countAll()
		for n := range 3 {
			if err := l.Cluster.Forget(l.Cluster.Pods("shop").Get(fmt.Sprint("web000-", n))); err != nil {
				t.Fatal(err)
			}
		}
		clustertest.Clock(l.Cluster).SetTime(podtest.At(7200))
		opening(t, l, "the outcomes to be dropped", func() error {
			clustertest.Clock(l.Cluster).Step(pruneEvery)
			l.breakers.mu.Lock()
			defer l.breakers.mu.Unlock()
			if trips := l.breakers.outcomes.Trips(podtest.At(60), func(guard.Workload) time.Time { return time.Time{} }); len(trips) > 0 {
				return fmt.Errorf("%v", trips)
			}
			return nil
		})
	})
	t.Run("a rollout does not start over", func(t *testing.T) {
		var pods []*corev1.Pod
		for n := range 3 {
			of := reverted("web", n, true)
			of.OwnerReferences[0].Kind, of.OwnerReferences[0].Name = "ReplicaSet", fmt.Sprint("web-", n)
			of.Labels = map[string]string{"pod-template-hash": fmt.Sprint(n)}
			pods = append(pods, of)
		}
		l := filled(t, pods, []*corev1.Node{clustertest.Node("n4", "n4", "640")})
		clustertest.Clock(l.Cluster).SetTime(podtest.At(60))
		holds := &opener{}
		l.Holds, l.Cluster.Holds = holds, holds
		l.mustOpen(t)
		if diff := cmp.Diff([]string{"Deployment shop/web"}, holds.opened()); diff != "" {
			t.Error(diff)
		}
	})
}
