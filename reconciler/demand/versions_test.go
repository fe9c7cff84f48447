package demand

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/usage"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// roll replaces the pods of the fixture with changed ones that were created at a time.
func (f *fixture) roll(t *testing.T, at time.Time, change func(*corev1.Pod)) {
	t.Helper()
	var pods []*corev1.Pod
	for _, p := range f.source.pods {
		p = p.DeepCopy()
		p.UID, p.CreationTimestamp = p.UID+"-next", metav1.NewTime(at)
		change(p)
		pods = append(pods, p)
	}
	old := f.of.Pods("").List()
	f.source.pods = pods
	nodes := f.of.Nodes()
	f.of = clustertest.Of(t, pods, nodes)
	f.of.Ratios, f.Cluster = f.Ratios, f.of
	for _, p := range old {
		f.podChanged(p, nil)
	}
}

// after reads and publishes after some time, hour by hour.
func (f *fixture) after(t *testing.T, hours int) {
	t.Helper()
	for range hours {
		f.Clock.(interface{ Step(time.Duration) }).Step(time.Hour)
		f.round(t)
	}
}

// image changes the image.
func image(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.Containers[0].Image = name }
}

func TestVersions(t *testing.T) {
	keeps := func(f *fixture) [3]bool {
		shown := f.needsOf(t, "web-1-x")
		changed := func(why string) bool { return strings.Contains(why, "changed") }
		return [3]bool{changed(shown.CPU.Keeps), changed(shown.Memory.Keeps), changed(shown.Memory.KeepsLimit)}
	}
	known := func(t *testing.T) *fixture {
		t.Helper()
		f := newFixture(t, following(), image("v1"))
		f.round(t)
		f.after(t, 30)
		if shown := f.needsOf(t, "web-1-x"); shown.CPU.Keeps != "" || shown.Memory.Keeps != "" {
			t.Fatalf("%+v", shown)
		}
		return f
	}
	all := [3]bool{true, true, true}
	for name, change := range map[string]func(*corev1.Pod){
		"an image": image("v2"),
		"an amount": func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = podtest.Amounts{"1", "", "2Gi", ""}.Requirements()
		},
	} {
		t.Run("nothing is lowered for a day after a change to "+name, func(t *testing.T) {
			f := known(t)
			f.roll(t, f.Clock.Now(), change)
			f.round(t)
			if got := keeps(f); got != all {
				t.Errorf("CPU, memory and limit are kept: %v", got)
			}
			f.after(t, 23)
			if got := keeps(f); got != all {
				t.Errorf("CPU, memory and limit are kept after 23 hours: %v", got)
			}
			f.after(t, 1)
			if shown := f.needsOf(t, "web-1-x"); shown.CPU.Keeps != "" || shown.Memory.Keeps != "" || shown.Memory.KeepsLimit != "" {
				t.Errorf("after a day: %+v", shown)
			}
		})
	}
	t.Run("new pods of the same version are lowered", func(t *testing.T) {
		f := known(t)
		f.roll(t, f.Clock.Now(), func(*corev1.Pod) {})
		f.round(t)
		if got := keeps(f); got != [3]bool{} {
			t.Errorf("CPU, memory and limit are kept: %v", got)
		}
	})
	t.Run("the day begins with the first pod of the version, even if nobody notices it", func(t *testing.T) {
		f := known(t)
		f.roll(t, f.Clock.Now().Add(-25*time.Hour), image("v2")) // Nobody was there to notice it.
		f.round(t)
		if got := keeps(f); got != [3]bool{} {
			t.Errorf("CPU, memory and limit are kept: %v", got)
		}
	})
	t.Run("more pods of an older version do not end the day", func(t *testing.T) {
		f := known(t)
		begun := f.Clock.Now()
		f.roll(t, begun, func(p *corev1.Pod) {
			if p.Name == "web-1-y" {
				image("v2")(p)
			} else {
				p.CreationTimestamp = metav1.NewTime(podtest.Start.Add(-24 * time.Hour))
			}
		})
		f.round(t)
		f.after(t, 1)
		again := f.source.pods[0]
		for _, p := range f.source.pods {
			if p.Name == "web-1-x" {
				again = p
			}
		}
		more := again.DeepCopy()
		more.Name, more.UID, more.CreationTimestamp = "web-1-z", "z", metav1.NewTime(f.Clock.Now())
		f.source.pods = append(f.source.pods, more)
		nodes := f.of.Nodes()
		f.of = clustertest.Of(t, f.source.pods, nodes)
		f.of.Ratios, f.Cluster = f.Ratios, f.of
		f.round(t)
		if got := keeps(f); got != all {
			t.Errorf("CPU, memory and limit are kept: %v", got)
		}
	})
	t.Run("a version is stored with the history", func(t *testing.T) {
		f := known(t)
		var before history.Version
		read := func(to *history.Version) {
			if err := f.store.Read(app, func(h *history.State, _ []string) error {
				*to = h.Version
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		read(&before)
		begun := f.Clock.Now()
		f.roll(t, begun, image("v2"))
		f.publish(t.Context())
		var now history.Version
		if read(&now); before.Hash == 0 || !before.Since.IsZero() || now.Hash == before.Hash || !now.Since.Equal(begun) {
			t.Errorf("%+v, before %+v", now, before)
		}
	})
	t.Run("nothing is known of a workload without pods", func(t *testing.T) {
		if v := (&survey{workloads: map[usage.Workload]*facts{}}).version(app); v != (history.Version{}) {
			t.Errorf("%+v", v)
		}
		a := podtest.Start
		if v := newest(map[uint64]time.Time{1: a, 3: a, 2: a}); v.Hash != 3 {
			t.Errorf("%+v of the same second", v)
		}
	})
}
