package demand

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// withReverts records reverts on the first pod.
func withReverts(all ...pod.Revert) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		if p.Name == "web-1-x" {
			podtest.Annotated("reverted", pod.RevertsText(all))(p)
			podtest.ManagedBy(podtest.AsMade, podtest.Managed(contract.FieldManager, "", 11, contract.Reverts))(p)
		}
	}
}

func TestFloors(t *testing.T) {
	near := func(got, want int64) bool { return got >= want && float64(got) <= 1.003*float64(want)+1 }
	t.Run("a killed container of one pod raises the limits of all", func(t *testing.T) {
		f := newFixture(t, following(), killedAt(podtest.Start.Add(-time.Minute)))
		f.round(t)
		if got := f.needsOf(t, "web-1-y").Memory.Floor; !near(got.Limit, 2<<30*12/10) || got.Request != 0 {
			t.Errorf("%+v after a kill at 2Gi", got)
		}
		f.deleteAll(t)
		clustertest.Clock(f.of).Step(7*24*time.Hour - 2*time.Hour)
		f.publish(t.Context())
		if got := (*f.needs.Load())[usage.Key{Container: app}].Memory.Floor.Limit; !near(got, 2<<30*12/10) {
			t.Errorf("%d bytes after seven days, and after the pods are gone", got)
		}
	})
	hurt := pod.Revert{
		At: podtest.Start.Add(-time.Hour), Container: "app", Measure: sizing.CPU, Hurt: sizing.Amount{Request: 500}, Back: sizing.Amount{Request: 1000}, Times: 1, Harm: contract.CPUPressure,
	}
	t.Run("a reverted size of one pod is too small for all, and counts once", func(t *testing.T) {
		f := newFixture(t, following(), withReverts(hurt))
		for range 3 {
			f.round(t)
		}
		if got := f.needsOf(t, "web-1-y").CPU.Floor; !near(got.Request, 600) || got.Limit != 0 {
			t.Errorf("%+v", got)
		}
		f.deleteAll(t)
		clustertest.Clock(f.of).Step(7*24*time.Hour - 2*time.Hour)
		f.publish(t.Context())
		if got := (*f.needs.Load())[usage.Key{Container: app}].CPU.Floor.Request; !near(got, 600) {
			t.Errorf("%d millicores after seven days, and after the pods are gone", got)
		}
	})
	t.Run("on a faster node, less of it is as much", func(t *testing.T) {
		f := newFixture(t, following(), func(p *corev1.Pod) { p.Spec.NodeName = map[string]string{"web-1-x": "b", "web-1-y": "a"}[p.Name] }, withReverts(hurt))
		f.round(t)
		if got := f.needsOf(t, "web-1-y").CPU.Floor.Request; !near(got, 750) {
			t.Errorf("%d millicores", got)
		}
	})
	t.Run("each replica counts, once it knows the history", func(t *testing.T) {
		f := newFixture(t, following(), withReverts(hurt))
		f.leads = false
		f.publish(t.Context())
		if len(*f.needs.Load()) != 0 {
			t.Errorf("%v", *f.needs.Load())
		}
		if f.round(t); !near(f.needsOf(t, "web-1-y").CPU.Floor.Request, 600) {
			t.Errorf("%+v", f.needsOf(t, "web-1-y").CPU.Floor)
		}
	})
	t.Run("an old revert says nothing", func(t *testing.T) {
		old := hurt
		old.At = podtest.Start.Add(-9 * 24 * time.Hour)
		f := newFixture(t, following(), withReverts(old))
		f.round(t)
		if got := f.needsOf(t, "web-1-x").CPU.Floor; got != (sizing.Amount{}) {
			t.Errorf("%+v", got)
		}
	})
	amount := func(request, limit int64) sizing.Amount { return sizing.Amount{Request: request, Limit: limit} }
	for _, test := range []struct {
		name           string
		hurt, back     sizing.Amount
		harm           contract.Harm
		request, limit int64
	}{
		{"a fifth more than what hurt may be tried", amount(500, 1000), amount(1000, 2000), contract.NotReady, 600, 1200},
		{"what the pod had before is enough", amount(900, 0), amount(1000, 0), contract.NotReady, 1000, 0},
		{"a limit that hurt says nothing about the request", amount(500, 1000), amount(1000, 2000), contract.OOMKilled, 0, 1200},
		{"a request that is lower alone is what hurt", amount(500, 2000), amount(1000, 2000), contract.NearLimit, 600, 0},
		{"no limit is not lower than one", amount(500, 0), amount(1000, 2000), contract.Restarts, 600, 0},
		{"what was raised did not hurt", amount(2000, 1000), amount(1000, 2000), contract.Restarts, 0, 1200},
	} {
		for _, m := range sizing.Measures {
			r := pod.Revert{At: podtest.Start, Measure: m, Hurt: test.hurt, Back: test.back, Harm: test.harm}
			want := history.Harm{At: r.At, Resource: history.Resource(m.Index), Request: test.request, Limit: test.limit}
			if got := harmOf(&r); got != want {
				t.Errorf("%s, %s: %+v, want %+v", test.name, m.Name, got, want)
			}
		}
	}
}
