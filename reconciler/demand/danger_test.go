package demand

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/policy/keys"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// planned returns the memory that the first pod gets if it has a size.
func (f *fixture) planned(t *testing.T, has sizing.Amount) sizing.Amount {
	t.Helper()
	p := f.of.Pods("shop").Get("web-1-x")
	size := p.Containers[0].Spec
	size.Memory = has
	s := plan.Snapshot{Pod: p.Replayed(0, size, nil), Table: f.Ratios.Table(), Now: f.Clock.Now(), Demand: f.demandOf(p.Name)}
	s.Around.Node = f.of.Node(p)
	return f.Planner.Plan(&s).Containers[0].Desired.Memory
}

// once is a source that delivers one sample.
type once struct {
	name   string
	sample usage.Sample
}

func (o once) Name() string { return o.name }

func (o once) Read(_ context.Context, _, _ time.Time, observe func(usage.Sample)) error {
	observe(o.sample)
	return nil
}

func TestDanger(t *testing.T) {
	const limit = 400 << 20
	equal := func(bytes int64) sizing.Amount { return sizing.Amount{Request: bytes, Limit: bytes} }
	begin := func(t *testing.T, layer *ratios.Layer) (*fixture, *changes) {
		f := newFixture(t, layer, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"1", "1", "400Mi", "400Mi"}.Requirements()
			p.Status.QOSClass = corev1.PodQOSGuaranteed
		})
		f.round(t)
		heard := &changes{}
		f.of.Serve(heard, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		return f, heard
	}
	urgent := func(f *fixture, used int64) usage.Sample {
		s := arrived(0, 5*time.Second, history.Memory, usage.Strain{})
		s.At, s.Usage = f.Clock.Now(), used
		return s
	}
	t.Run("memory is raised before the kill, and stays for as long as the peak is in the history", func(t *testing.T) {
		f, heard := begin(t, following())
		if got := f.planned(t, equal(limit)); got != equal(limit) {
			t.Errorf("%+v before the peak", got)
		}
		peak := urgent(f, 390<<20)
		f.SignalUrgent([]usage.Sample{peak})
		if !slices.Equal(heard.pods, []string{"web-1-x"}) {
			t.Errorf("planned again: %q", heard.pods)
		}
		raised := f.planned(t, equal(limit))
		if raised.Request != raised.Limit || raised.Limit < 468<<20 || raised.Limit > 470<<20 {
			t.Errorf("%+v with 390Mi in use", raised)
		}
		// The source delivers the same sample a minute later.
		if err := f.store.Collect(t.Context(), once{f.source.Name(), peak}, f.Clock.Now().Add(-time.Minute), f.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		has := raised
		for day := range 7 {
			f.publish(t.Context())
			has = f.planned(t, has)
			if has.Limit < raised.Limit { // It may be more: recommendations have room above the peak, too.
				t.Errorf("%+v %d days after the peak, raised to %+v", has, day, raised)
			}
			f.after(t, 24)
		}
		f.after(t, 24)
		if got := f.planned(t, has); got.Limit >= raised.Limit {
			t.Errorf("%+v after eight days, raised to %+v", got, raised)
		}
	})
	t.Run("pods are planned again whose sizes follow usage by a VerticalPodAutoscaler", func(t *testing.T) {
		f, _ := begin(t, clustertest.Published())
		f.tune(t, "web", deployment, "apply", "")
		f.round(t)
		heard := &changes{}
		f.of.Serve(heard, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		f.SignalUrgent([]usage.Sample{urgent(f, 390<<20)})
		if !slices.Equal(heard.pods, []string{"web-1-x"}) {
			t.Errorf("planned again: %q", heard.pods)
		}
		g, also := begin(t, following())
		g.tune(t, "web", deployment, "observe", "")
		g.round(t)
		also.pods = nil
		g.SignalUrgent([]usage.Sample{urgent(g, 390<<20)})
		if len(also.pods) != 0 {
			t.Errorf("planned again although the VerticalPodAutoscaler only observes: %q", also.pods)
		}
	})
	t.Run("nothing is planned again that is far from its limit, or whose size does not follow usage", func(t *testing.T) {
		f, heard := begin(t, following())
		f.SignalUrgent([]usage.Sample{urgent(f, 300<<20)})
		cpu := urgent(f, 390<<20)
		cpu.Resource = history.CPU
		f.SignalUrgent([]usage.Sample{cpu})
		layer := clustertest.Published()
		layer.Settings = keys.Some(policy.Settings{Demand: policy.Demand{From: policy.FromUsage}})
		g, also := begin(t, layer)
		g.SignalUrgent([]usage.Sample{urgent(g, 390<<20)})
		if len(heard.pods) != 0 || len(also.pods) != 0 {
			t.Errorf("planned again: %q and %q", heard.pods, also.pods)
		}
	})
	t.Run("a VerticalPodAutoscaler says whether a size follows usage", func(t *testing.T) {
		for mode, layer := range map[string]*ratios.Layer{"apply": clustertest.Published(), "observe": following()} {
			f, heard := begin(t, layer)
			f.tune(t, "web", deployment, mode, "")
			f.publish(t.Context())
			heard.pods = nil
			f.SignalUrgent([]usage.Sample{urgent(f, 390<<20)})
			if again := len(heard.pods) > 0; again != (mode == "apply") {
				t.Errorf("%s: planned again: %q", mode, heard.pods)
			}
		}
	})
}
