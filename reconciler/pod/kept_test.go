package pod_test

import (
	"maps"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestKept(t *testing.T) {
	labelled := func(labels map[string]string) *pod.Pod {
		return pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.Labels = labels }))
	}
	t.Run("has the same texts", func(t *testing.T) {
		for name, labels := range map[string]map[string]string{
			"none":               nil,
			"one":                {"app": "web"},
			"several":            {"app": "web", "tier": "front", "zone": ""},
			"the longest values": {"app": strings.Repeat("x", 63), "b": strings.Repeat("y", 319), "c": "z"},
		} {
			of := labelled(labels).Labels()
			if diff := cmp.Diff(maps.Collect(of.All()), maps.Collect(of.Kept().All())); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	})
	t.Run("shares the memory of pods that have the same", func(t *testing.T) {
		// value returns where the label app of a new pod is.
		value := func() *byte {
			text := labelled(map[string]string{"app": "web", "tier": "front"}).Labels().Kept().Get("app")
			if text != "web" {
				t.Fatalf("got %q", text)
			}
			return unsafe.StringData(text)
		}
		if first, second := value(), value(); first != second {
			t.Error("two pods with the same labels do not share them")
		}
	})
}

func TestEqual(t *testing.T) {
	long := strings.Repeat("x", 400)
	of := func(labels, annotations map[string]string) *pod.Pod {
		return pod.From(podtest.Pod(podtest.Guaranteed, func(p *corev1.Pod) { p.Labels, p.Annotations = labels, annotations }))
	}
	some := []map[string]string{nil, {"app": "web"}, {"app": "db"}, {"tier": "web"}, {"app": "web", "tier": ""}, {"app": "web", "tier": "web"}, {"app": long}, {"app": long + "x"}}
	for i, a := range some {
		for j, b := range some {
			// Labels that are followed by annotations count alone.
			if got := of(a, nil).Labels().Equal(of(b, map[string]string{"other": "x"}).Labels()); got != (i == j) {
				t.Errorf("labels %v and %v: %v", a, b, got)
			}
			if got := of(nil, a).Annotations().Equal(of(map[string]string{"other": "x"}, b).Annotations()); got != (i == j) {
				t.Errorf("annotations %v and %v: %v", a, b, got)
			}
		}
	}
}
