package safety

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestHPAWarning(t *testing.T) {
	eighty, value := int32(80), resource.MustParse("500m")
	share := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &eighty}
	of := func(name corev1.ResourceName, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}
	}
	ofContainer := func(container string) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: container, Target: share}}
	}
	const cpu = "HorizontalPodAutoscaler web targets 80% of cpu requests"
	before := []func(*corev1.Pod){app(list("cpu", "1", "memory", "1Gi"), nil)}
	less := []func(*corev1.Pod){app(list("cpu", "800m", "memory", "512Mi"), nil)}
	type pods = []func(*corev1.Pod)
	for _, tc := range []struct {
		name          string
		metrics       []autoscalingv2.MetricSpec
		before, after pods
		want          string
	}{
		{"warns about fewer requests", []autoscalingv2.MetricSpec{of("cpu", share)}, before, less, cpu + ": after this resize, the utilization for the same load is 1.25 times as high"},
		{"warns about more requests", []autoscalingv2.MetricSpec{of("cpu", share)}, less, before, cpu + ": after this resize, the utilization for the same load is 0.8 times as high"},
		{"warns about each metric", []autoscalingv2.MetricSpec{of("cpu", share), of("memory", share)}, before, less, cpu + ": after this resize, the utilization for the same load is 1.25 times as high; HorizontalPodAutoscaler web targets 80% of memory requests: after this resize, the utilization for the same load is 2 times as high"},
		{"usage itself is not a share", []autoscalingv2.MetricSpec{of("cpu", autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &value})}, before, less, ""},
		{"ignores other metrics", []autoscalingv2.MetricSpec{{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{}}}, before, less, ""},
		{"warns after other metrics", []autoscalingv2.MetricSpec{{Type: autoscalingv2.PodsMetricSourceType, Pods: &autoscalingv2.PodsMetricSource{}}, of("cpu", share)}, before, less, cpu + ": after this resize, the utilization for the same load is 1.25 times as high"},
		{"warns after a resource that does not change", []autoscalingv2.MetricSpec{of("memory", share), of("cpu", share)}, pods{app(list("cpu", "1", "memory", "1Gi"), nil)}, pods{app(list("cpu", "800m", "memory", "1Gi"), nil)}, cpu + ": after this resize, the utilization for the same load is 1.25 times as high"},
		{"ignores a new request", []autoscalingv2.MetricSpec{of("cpu", share)}, pods{app(list("cpu", "0", "memory", "1Gi"), nil)}, before, ""},
		{"ignores a removed request", []autoscalingv2.MetricSpec{of("cpu", share)}, before, pods{app(list("cpu", "0", "memory", "1Gi"), nil)}, ""},
		{"ignores a resource that does not change", []autoscalingv2.MetricSpec{of("memory", share)}, pods{app(list("cpu", "1", "memory", "1Gi"), nil)}, pods{app(list("cpu", "800m", "memory", "1Gi"), nil)}, ""},
		{"ignores a resize without changes", []autoscalingv2.MetricSpec{of("cpu", share)}, before, before, ""},
		{"sums containers and sidecars, without other init containers",
			[]autoscalingv2.MetricSpec{of("cpu", share)},
			pods{app(list("cpu", "1"), nil), second(list("cpu", "1"), nil), initContainer("init", list("cpu", "9"), nil), sidecar(list("cpu", "1"), nil)},
			pods{app(list("cpu", "500m"), nil), second(list("cpu", "500m"), nil), initContainer("init", list("cpu", "9"), nil), sidecar(list("cpu", "1"), nil)},
			cpu + ": after this resize, the utilization for the same load is 1.5 times as high"},
		{"warns about a single container", []autoscalingv2.MetricSpec{ofContainer("app")}, pods{app(list("cpu", "1"), nil), second(nil, nil)}, pods{app(list("cpu", "800m"), nil), second(nil, nil)}, cpu + " of container app: after this resize, the utilization for the same load is 1.25 times as high"},
		{"ignores another container", []autoscalingv2.MetricSpec{ofContainer("second")}, pods{app(list("cpu", "1"), nil), second(list("cpu", "1"), nil)}, pods{app(list("cpu", "800m"), nil), second(list("cpu", "1"), nil)}, ""},
		{"ignores a pod with a missing request", []autoscalingv2.MetricSpec{of("cpu", share)}, pods{app(list("cpu", "1"), nil), second(nil, nil)}, pods{app(list("cpu", "800m"), nil), second(nil, nil)}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("web"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{Metrics: tc.metrics}}
			p := podWith(tc.before...)
			if got := HPAWarning(hpa, pod.From(p), sizesOf(p), sizesOf(podWith(tc.after...)), "after this resize"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestHPATarget(t *testing.T) {
	eighty, value := int32(80), resource.MustParse("500m")
	share := autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: &eighty}
	average := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: &value}
	of := func(name corev1.ResourceName, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: name, Target: target}}
	}
	ofContainer := func(container string, target autoscalingv2.MetricTarget) autoscalingv2.MetricSpec {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ContainerResourceMetricSourceType, ContainerResource: &autoscalingv2.ContainerResourceMetricSource{Name: "cpu", Container: container, Target: target}}
	}
	const cpu = "HorizontalPodAutoscaler web targets 80% of cpu requests"
	for _, tc := range []struct {
		name        string
		metrics     []autoscalingv2.MetricSpec
		cpu, memory string
	}{
		{"no metric", nil, "", ""},
		{"utilization of one resource", []autoscalingv2.MetricSpec{of("cpu", share)}, cpu, ""},
		{"utilization of both", []autoscalingv2.MetricSpec{of("memory", share), of("cpu", share)}, cpu, "HorizontalPodAutoscaler web targets 80% of memory requests"},
		{"utilization after an average value of the same resource", []autoscalingv2.MetricSpec{of("cpu", average), of("cpu", share)}, cpu, ""},
		{"average values", []autoscalingv2.MetricSpec{of("cpu", average), ofContainer("app", average)}, "", ""},
		{"utilization of the container", []autoscalingv2.MetricSpec{ofContainer("app", share)}, cpu + " of container app", ""},
		{"utilization of another container", []autoscalingv2.MetricSpec{ofContainer("second", share)}, "", ""},
		{"a metric of an object", []autoscalingv2.MetricSpec{{Type: autoscalingv2.ObjectMetricSourceType, Object: &autoscalingv2.ObjectMetricSource{}}}, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			hpa := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("web"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{Metrics: tc.metrics}}
			if got := [2]string{HPATarget(hpa, "app", sizing.CPU), HPATarget(hpa, "app", sizing.Memory)}; got != [2]string{tc.cpu, tc.memory} {
				t.Errorf("%q, want %q and %q", got, tc.cpu, tc.memory)
			}
			if got, want := ScalesByUtilization(hpa), tc.cpu != "" || tc.memory != "" || tc.name == "utilization of another container"; got != want {
				t.Errorf("scales by utilization: %v", got)
			}
		})
	}
}
