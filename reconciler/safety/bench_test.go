package safety

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/workload-resizer/workload-resizer/reconciler/node"
	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// two returns a pod with two running containers.
func two() *corev1.Pod {
	return podWith(
		app(list("cpu", "1", "memory", "1Gi"), list("cpu", "2", "memory", "1Gi")),
		second(list("cpu", "100m", "memory", "64Mi"), nil),
		running("app", &corev1.ResourceRequirements{}), running("second", &corev1.ResourceRequirements{}),
		func(p *corev1.Pod) {
			p.Annotations = map[string]string{"a": "1", "b": "2"}
			p.Labels = map[string]string{"app": "web", "pod-template-hash": "abc"}
		})
}

func BenchmarkScope(b *testing.B) {
	s := Snapshot{Pod: pod.From(two()), OwnerKinds: []string{"ReplicaSet", "StatefulSet"}}
	b.ReportAllocs()
	for b.Loop() {
		if veto := Scope(s); veto != nil {
			b.Fatal(*veto)
		}
	}
}

func BenchmarkChange(b *testing.B) {
	p := pod.From(two())
	before, less, more := sizesOf(two()), sizesOf(two()), sizesOf(two())
	less[0].CPU.Request, more[0].CPU.Request = 800, 1250
	quotas := []*corev1.ResourceQuota{{Status: corev1.ResourceQuotaStatus{Hard: list("requests.cpu", "9"), Used: list("requests.cpu", "1")}}}
	limitRanges := []*corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Min: list("cpu", "50m", "memory", "16Mi")}}}}}
	on := nodeWith(list("cpu", "8", "memory", "32Gi"))
	for _, bc := range []struct {
		name  string
		after Sizes
		s     *Surroundings
	}{
		{"decrease", less, &Surroundings{Room: node.Room{Node: on}}},
		{"decrease under LimitRange and ResourceQuota", less, &Surroundings{Room: node.Room{Node: on}, LimitRanges: limitRanges, Quotas: quotas}},
		{"increase", more, &Surroundings{Room: node.Room{Node: on}}},
		{"increase under LimitRange and ResourceQuota", more, &Surroundings{Room: node.Room{Node: on}, LimitRanges: limitRanges, Quotas: quotas}},
	} {
		b.Run(bc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if veto := Change(p, corev1.PodQOSBurstable, before, bc.after, bc.s); veto != nil {
					b.Fatal(*veto)
				}
			}
		})
	}
}
