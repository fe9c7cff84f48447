package pod_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestLags(t *testing.T) {
	size := podtest.Amounts{"1", "1", "1Gi", "1Gi"}
	whole := func(cpu, memory string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}
		}
	}
	for _, tc := range []struct {
		name        string
		changes     []func(*corev1.Pod)
		cpu, memory bool
	}{
		{"the pod has the limits of its container", []func(*corev1.Pod){whole("1", "1Gi")}, false, false},
		{"less memory", []func(*corev1.Pod){whole("1", "512Mi")}, false, true},
		{"less cpu", []func(*corev1.Pod){whole("999m", "1Gi")}, true, false},
		{"more of both, as while init containers run", []func(*corev1.Pod){whole("2", "2Gi")}, false, false},
		{"memory that the kernel rounded down to whole pages", []func(*corev1.Pod){whole("1", "1Gi"), func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("1073807359")
			p.Status.ContainerStatuses[0].Resources = &p.Spec.Containers[0].Resources
		}}, false, false},
		{"an old kubelet", nil, false, false},
		{"a resize in progress", []func(*corev1.Pod){whole("500m", "512Mi"), podtest.WithStatus(size, podtest.Amounts{"500m", "500m", "512Mi", "512Mi"})}, false, false},
		{"a spec that the kubelet has not seen", []func(*corev1.Pod){whole("500m", "512Mi"), func(p *corev1.Pod) { p.Generation, p.Status.ObservedGeneration = 2, 1 }}, false, false},
		{"a second container without limits", []func(*corev1.Pod){whole("500m", "512Mi"), func(p *corev1.Pod) {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "second"})
		}}, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := pod.From(podtest.Pod(size, append([]func(*corev1.Pod){podtest.WithStatus(size, size)}, tc.changes...)...))
			if p.Lags(sizing.CPU) != tc.cpu || p.Lags(sizing.Memory) != tc.memory {
				t.Errorf("cpu %t, memory %t; want %t, %t", p.Lags(sizing.CPU), p.Lags(sizing.Memory), tc.cpu, tc.memory)
			}
		})
	}
}
