package pod

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestTemplate(t *testing.T) {
	of := func(a podtest.Amounts, changes ...func(*corev1.Pod)) uint64 {
		return From(podtest.Pod(a, changes...)).Template()
	}
	amounts := podtest.Amounts{"1", "2", "1Gi", "2Gi"}
	image := func(image string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Image = image }
	}
	same := of(amounts, image("v1"))
	if same == 0 {
		t.Fatal("nothing is known of a pod as created")
	}
	for name, got := range map[string]uint64{
		"another pod": of(amounts, image("v1"), func(p *corev1.Pod) { p.Name, p.UID = "other", "other" }),
		"resized": of(podtest.Amounts{"800m", "1600m", "2Gi", "3Gi"}, image("v1"), podtest.AsResized, podtest.ManagedBy(podtest.ResizeOf(60, "app")), podtest.Annotated(
			"original-cpu.app", "1", "original-cpu-limit.app", "2", "original-memory.app", "1Gi", "original-memory-limit.app", "2Gi",
		)),
	} {
		if got != same {
			t.Errorf("%s: %x, want %x", name, got, same)
		}
	}
	initial := func(image string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: image}} }
	}
	all := map[uint64]string{same: "the same"}
	for name, got := range map[string]uint64{
		"another image":                      of(amounts, image("v2")),
		"another CPU request":                of(podtest.Amounts{"1500m", "2", "1Gi", "2Gi"}, image("v1")),
		"another memory limit":               of(podtest.Amounts{"1", "2", "1Gi", "3Gi"}, image("v1")),
		"no CPU limit":                       of(podtest.Amounts{"1", "", "1Gi", "2Gi"}, image("v1")),
		"an init container":                  of(amounts, image("v1"), initial("v1")),
		"another image of an init container": of(amounts, image("v1"), initial("v2")),
		"another name of the container":      of(amounts, image("v1"), func(p *corev1.Pod) { p.Spec.Containers[0].Name = "other" }),
	} {
		if other, found := all[got]; found || got == 0 {
			t.Errorf("%s equals %s: %x", name, other, got)
		}
		all[got] = name
	}
	unknown := of(podtest.Amounts{"800m", "1600m", "2Gi", "3Gi"}, image("v1"), podtest.ManagedBy(podtest.AsMade, podtest.ResizeOf(60, "app")))
	if unknown != 0 {
		t.Errorf("%x of a pod whose originals are lost", unknown)
	}
}
