package demand

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// led is a source of a leader among followers, which use a tenth of its memory.
type led struct{ *steady }

func (l led) Read(ctx context.Context, since, until time.Time, observe func(usage.Sample)) error {
	return l.steady.Read(ctx, since, until, func(s usage.Sample) {
		if s.Resource == history.Memory && s.Name == "web-1-0" {
			s.Usage = 1000 << 20
		}
		observe(s)
	})
}

// crowd returns a Deployment web with a leader, web-1-0, and followers, whose usage of two days was read.
func crowd(t *testing.T, followers int, changes ...func(*corev1.Pod)) *fixture {
	t.Helper()
	f := &fixture{leads: true, source: &steady{cpu: map[string]int64{}}}
	for i := range 1 + followers {
		name := fmt.Sprint("web-1-", i)
		f.source.cpu[name] = 100
		all := append([]func(*corev1.Pod){clustertest.Named("shop", name, "a"), func(p *corev1.Pod) {
			p.OwnerReferences[0].Name, p.CreationTimestamp = "web-1", metav1.NewTime(podtest.Start.Add(-96*time.Hour))
			p.Labels = map[string]string{"app": "web", "pod-template-hash": "1"}
		}}, changes...)
		f.source.pods = append(f.source.pods, podtest.Pod(podtest.Amounts{"1", "", "2Gi", "4Gi"}, all...))
	}
	f.of = clustertest.Of(t, f.source.pods, []*corev1.Node{clustertest.Node("a", "n2d", "64")})
	f.of.Ratios = clustertest.Store(t, following())
	f.Demands = New(Config{
		Cluster: f.of, Ratios: f.of.Ratios, Planner: f.of.Planner, Leads: func() bool { return f.leads }, Clock: clustertest.Clock(f.of),
		Usage: Usage{Sources: []Source{{Source: led{f.source}, Interval: time.Minute, Backfill: 48 * time.Hour}}},
	})
	f.round(t)
	return f
}

// demandOf returns what usage says about a pod.
func (f *fixture) demandOf(name string) need.Demand {
	p := f.of.Pods("shop").Get(name)
	return f.NeedsOf(p, f.of.Owners().Chain(nil, p), f.Ratios.Table(), false)
}

func TestPeaks(t *testing.T) {
	f := crowd(t, 20)
	leader, follower := f.demandOf("web-1-0"), f.demandOf("web-1-1")
	if shown, _ := leader.Of("app"); shown.Memory.Target > 200<<20 {
		t.Errorf("%d bytes are recommended for all", shown.Memory.Target)
	}
	if got := leader.Peak("app"); got < 1000<<20 || got > 1001<<20 {
		t.Errorf("%d bytes of the leader", got)
	}
	if got := follower.Peak("app"); got > 101<<20 {
		t.Errorf("%d bytes of a follower", got)
	}
	t.Run("do not matter for a pod without replicas, which has the history of its workload", func(t *testing.T) {
		alone := crowd(t, 0).demandOf("web-1-0")
		shown, _ := alone.Of("app")
		if got := alone.Peak("app"); got != 0 || shown.Memory.Target < 1000<<20 {
			t.Errorf("a peak of %d bytes, and %d are recommended", got, shown.Memory.Target)
		}
	})
	t.Run("keep a leader larger than its followers", func(t *testing.T) {
		planned := func(name string) int64 {
			p := f.of.Pods("shop").Get(name)
			s := plan.Snapshot{Pod: p, Table: f.Ratios.Table(), Now: f.Clock.Now(), Demand: f.demandOf(name)}
			s.Around.Node = f.of.Node(p)
			return f.Planner.Plan(&s).Containers[0].Desired.Memory.Request
		}
		if got := planned("web-1-0"); got < 1000<<20 || got > 1001<<20 {
			t.Errorf("the leader gets %d bytes", got)
		}
		if got := planned("web-1-1"); got > 200<<20 {
			t.Errorf("a follower gets %d bytes", got)
		}
	})
	t.Run("do not matter for a rolling update of a single pod", func(t *testing.T) {
		f := crowd(t, 1, func(p *corev1.Pod) { p.OwnerReferences[0].UID = types.UID(p.Name) })
		if got := f.demandOf("web-1-0").Peak("app"); got != 0 {
			t.Errorf("%d bytes", got)
		}
	})
	t.Run("of a leader stay when its followers end, since its history has theirs", func(t *testing.T) {
		f := crowd(t, 20)
		f.source.pods = f.source.pods[:1]
		f.of = clustertest.Of(t, f.source.pods, f.of.Nodes())
		f.of.Ratios, f.Cluster = f.Ratios, f.of
		f.publish(t.Context())
		shown, _ := f.demandOf("web-1-0").Of("app")
		if got := f.demandOf("web-1-0").Peak("app"); got < 1000<<20 || shown.Memory.Target > 200<<20 {
			t.Errorf("a peak of %d bytes, and %d are recommended", got, shown.Memory.Target)
		}
	})
	t.Run("have the pods planned again once they no longer count", func(t *testing.T) {
		again := &changes{}
		f.of.Serve(again, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		f.publish(t.Context())
		if len(again.pods) != 0 {
			t.Errorf("planned again: %q", again.pods)
		}
		clustertest.Clock(f.of).Step(8 * 24 * time.Hour)
		f.publish(t.Context())
		if len(again.pods) == 0 || f.demandOf("web-1-0").Peak("app") != 0 {
			t.Errorf("planned again: %q, with a peak of %d bytes", again.pods, f.demandOf("web-1-0").Peak("app"))
		}
	})
}
