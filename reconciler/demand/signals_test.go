package demand

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/guard"
	"github.com/workload-resizer/workload-resizer/reconciler/plan"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/checkpoint"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// changes are the pods that have to be planned again.
type changes struct{ pods []string }

func (c *changes) Changed(pod types.NamespacedName) { c.pods = append(c.pods, pod.Name) }
func (c *changes) Eased(string, ...contract.Reason) {}

// resizedAt resizes pods at a second.
func resizedAt(second int) func(*corev1.Pod) {
	return podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(second, "app"))
}

// arrived returns a sample of the first pod that ends at a second.
func arrived(second int, length time.Duration, resource history.Resource, strain usage.Strain) usage.Sample {
	s := usage.Sample{Namespace: "shop", Name: "web-1-x", Container: "app", Strain: strain}
	s.UID, s.At, s.Length, s.Resource, s.Usage = "shop/web-1-x", podtest.At(second), length, resource, 1<<20
	return s
}

func TestSignals(t *testing.T) {
	t.Run("samples of all sources count, and have their pod planned again", func(t *testing.T) {
		f := newFixture(t, clustertest.Published(), resizedAt(10))
		heard := &changes{}
		f.of.Serve(heard, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		clustertest.Clock(f.of).Step(2 * time.Minute)
		f.round(t) // The source measures both pods at seconds 60 and 120, and before.
		slices.Sort(heard.pods)
		if got := slices.Compact(heard.pods); !slices.Equal(got, []string{"web-1-x", "web-1-y"}) {
			t.Errorf("planned again: %q", got)
		}
		of := f.of.Pods("shop").Get("web-1-x")
		got := f.Signals(of).Of("app")
		const used = 100 << 20
		// Usual memory is rounded up.
		if before := got.Before.Memory.N; got.Since.Memory != guard.Of(used) || before < used || before > 1.001*used || got.Since.Throttled.Known {
			t.Errorf("%+v", got)
		}
	})
	t.Run("what an agent sends urgently counts before it is read", func(t *testing.T) {
		f := newFixture(t, clustertest.Published(), resizedAt(10))
		heard := &changes{}
		f.of.Serve(heard, func(types.NamespacedName, types.UID, time.Time) *plan.Refusal { return nil })
		clustertest.Clock(f.of).Step(30 * time.Second)
		at := usage.Strain{LimitEvents: usage.ValueOf(2), Pressure: usage.ValueOf(1)}
		another := arrived(29, 5*time.Second, history.Memory, at)
		another.UID = "an earlier pod with this name"
		f.SignalUrgent([]usage.Sample{another, arrived(90, time.Minute, history.CPU, at)})
		if len(heard.pods) != 0 {
			t.Errorf("planned again: %q", heard.pods)
		}
		f.SignalUrgent([]usage.Sample{arrived(29, 5*time.Second, history.Memory, at)})
		got := f.Signals(f.of.Pods("shop").Get("web-1-x")).Of("app").Since
		if want := (guard.Strain{Memory: guard.Of(1 << 20), LimitEvents: guard.Of(2)}); got != want || !slices.Equal(heard.pods, []string{"web-1-x"}) {
			t.Errorf("%+v, planned again: %q", got, heard.pods)
		}
	})
	t.Run("a sample of an earlier pod with the name is not of the time before the resize", func(t *testing.T) {
		f := newFixture(t, clustertest.Published(), func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(podtest.At(50)) }, resizedAt(60))
		clustertest.Clock(f.of).Step(2 * time.Minute)
		of := f.of.Pods("shop").Get("web-1-x")
		for _, second := range []int{40, 55, 100} { // Some sources do not know UIDs.
			sample := arrived(second, 15*time.Second, history.Memory, usage.Strain{})
			sample.UID = ""
			f.signal(of, &sample)
		}
		if got := f.Signals(of).Of("app"); got.Before.Memory.Known || !got.Since.Memory.Known {
			t.Errorf("%+v", got)
		}
		own := arrived(55, 15*time.Second, history.Memory, usage.Strain{})
		if f.signal(of, &own); !f.Signals(of).Of("app").Before.Memory.Known {
			t.Error("nothing is known of the time before")
		}
	})
	t.Run("a deleted pod is forgotten, even if it would be observed for a day", func(t *testing.T) {
		f := newFixture(t, clustertest.Published(), resizedAt(60))
		clustertest.Clock(f.of).Step(2 * time.Minute)
		of := f.of.Pods("shop").Get("web-1-x")
		for _, second := range []int{55, 100} {
			sample := arrived(second, 15*time.Second, history.Memory, usage.Strain{})
			f.signal(of, &sample)
		}
		if all, observed := f.signals.Len(); all != 1 || observed != 1 {
			t.Fatalf("%d, of which %d are observed", all, observed)
		}
		f.podChanged(of, of)
		if all, observed := f.signals.Len(); all != 1 || observed != 1 {
			t.Errorf("%d, of which %d are observed, although the pod exists", all, observed)
		}
		f.podChanged(of, nil)
		if all, observed := f.signals.Len(); all != 0 || observed != 0 {
			t.Errorf("%d, of which %d are observed", all, observed)
		}
	})
	t.Run("a replica that does not collect usage knows nothing", func(t *testing.T) {
		f := newFixture(t, clustertest.Published(), resizedAt(10))
		f.leads = false
		if s := f.Signals(f.of.Pods("shop").Get("web-1-x")); s.Of != nil || !strings.Contains(s.Unknown, "leads") {
			t.Errorf("%+v", s)
		}
		f.leads, f.Keeper = true, checkpoint.New(checkpoint.Config{})
		if s := f.Signals(f.of.Pods("shop").Get("web-1-x")); s.Of != nil || !strings.Contains(s.Unknown, "has not read") {
			t.Errorf("%+v", s)
		}
	})
}
