package demand

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// followingHighest returns ratios under which memory limits are twice the highest usage.
func followingHighest() *ratios.Layer {
	layer := clustertest.Published()
	layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage, Mode: policy.Apply, Memory: policy.ResourceDemand{Limit: "peak"}}})
	return layer
}

// The containers use 100 MiB.
func TestLimitByHighestUsage(t *testing.T) {
	near := func(got, want int64) bool { return got >= want && got <= want+want/1000 }
	begin := func(t *testing.T, of podtest.Amounts, class corev1.PodQOSClass) *fixture {
		f := newFixture(t, followingHighest(), func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources, p.Status.QOSClass = of.Requirements(), class
		})
		f.round(t)
		return f
	}
	killed := func(t *testing.T, f *fixture, at sizing.Amount) {
		t.Helper()
		clustertest.Clock(f.of).Step(history.Skew)
		kill := history.Kill{Pod: history.Pod{UID: string(f.of.Pods("shop").Get("web-1-x").UID)}, At: f.Clock.Now(), Limit: at.Limit, Request: at.Request}
		if err := f.store.Kill("shop", "web-1-x", "app", kill, f.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		f.publish(t.Context())
	}
	t.Run("grows with kills up to the growth limit, and is forgotten after eight days", func(t *testing.T) {
		f := begin(t, podtest.Amounts{"1", "", "400Mi", "1Gi"}, corev1.PodQOSBurstable)
		has := f.planned(t, sizing.Amount{Request: 400 << 20, Limit: 1 << 30})
		if has.Limit != 1<<30 {
			t.Errorf("%+v before a kill", has)
		}
		for _, want := range []int64{2 << 30, 4 << 30, 4 << 30, 4 << 30} { // The author wrote 1 GiB.
			killed(t, f, has)
			if has = f.planned(t, has); !near(has.Limit, want) || has.Limit > 4<<30 {
				t.Errorf("%+v after a kill, want a limit of %d", has, want)
			}
		}
		f.after(t, 9*24)
		if got := f.planned(t, has); !near(got.Limit, 200<<20) {
			t.Errorf("%+v after nine days", got)
		}
	})
	t.Run("is raised to twice what is used", func(t *testing.T) {
		f := begin(t, podtest.Amounts{"1", "", "100Mi", "110Mi"}, corev1.PodQOSBurstable)
		if got := f.planned(t, sizing.Amount{Request: 100 << 20, Limit: 110 << 20}); !near(got.Limit, 200<<20) {
			t.Errorf("%+v", got)
		}
	})
	t.Run("is the request in Guaranteed pods", func(t *testing.T) {
		f := begin(t, podtest.Amounts{"1", "1", "400Mi", "400Mi"}, corev1.PodQOSGuaranteed)
		has := sizing.Amount{Request: 400 << 20, Limit: 400 << 20}
		for range 5 {
			killed(t, f, has)
			if has = f.planned(t, has); has.Request != has.Limit || has.Limit > 1600<<20 {
				t.Errorf("%+v", has)
			}
		}
		if has.Limit != 1600<<20 {
			t.Errorf("%+v after five kills", has)
		}
	})
}
