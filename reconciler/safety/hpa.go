package safety

import (
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// HPAWarning describes the effect of a resize on a HorizontalPodAutoscaler of the pod's
// workload: if it measures usage as a percentage of requests, changed requests change the
// utilization at the same load. when says which sizes are compared, such as "after this resize".
// HPAWarning returns "" if nothing changes for the autoscaler.
func HPAWarning(hpa *autoscalingv2.HorizontalPodAutoscaler, p *pod.Pod, before, after Sizes, when string) string {
	if before.equal(after) {
		return ""
	}
	var told []string
	for i := range hpa.Spec.Metrics {
		name, container, target := utilization(&hpa.Spec.Metrics[i])
		if target == nil {
			continue
		}
		was, ok := before.requested(p, name, container)
		is, stillOK := after.requested(p, name, container)
		if !ok || !stillOK || was == is {
			continue
		}
		told = append(told, fmt.Sprintf("%s: %s, the utilization for the same load is %.3g times as high", targets(hpa, name, container, *target), when, was/is))
	}
	return strings.Join(told, "; ")
}

// HPATarget describes the utilization that a HorizontalPodAutoscaler targets, if this is a percentage of what a
// container requests of a resource, alone or with the other containers of its pod; "" if it targets none. If usage
// determined such a request, the two would answer each other: utilization rises when the request falls, more pods share the
// load, each of them uses less, and the request falls again.
func HPATarget(hpa *autoscalingv2.HorizontalPodAutoscaler, container string, m *sizing.Measure) string {
	for i := range hpa.Spec.Metrics {
		name, only, target := utilization(&hpa.Spec.Metrics[i])
		if target != nil && string(name) == m.Name && (only == "" || only == container) {
			return targets(hpa, name, only, *target)
		}
	}
	return ""
}

// ScalesByUtilization reports whether any metric of a HorizontalPodAutoscaler is a percentage of requests.
func ScalesByUtilization(hpa *autoscalingv2.HorizontalPodAutoscaler) bool {
	return slices.ContainsFunc(hpa.Spec.Metrics, func(metric autoscalingv2.MetricSpec) bool {
		_, _, target := utilization(&metric)
		return target != nil
	})
}

// targets describes a metric that is a percentage of the requests of a container, or of all if it is empty.
func targets(hpa *autoscalingv2.HorizontalPodAutoscaler, name corev1.ResourceName, container string, target int32) string {
	of := ""
	if container != "" {
		of = " of container " + container
	}
	return fmt.Sprintf("HorizontalPodAutoscaler %s targets %d%% of %s requests%s", hpa.Name, target, name, of)
}

// utilization returns the resource that a metric measures as a percentage of requests, its
// container ("" for all), and the target in percent; nil if it measures something else.
func utilization(metric *autoscalingv2.MetricSpec) (name corev1.ResourceName, container string, target *int32) {
	switch {
	case metric.Resource != nil:
		return metric.Resource.Name, "", metric.Resource.Target.AverageUtilization
	case metric.ContainerResource != nil:
		return metric.ContainerResource.Name, metric.ContainerResource.Container, metric.ContainerResource.Target.AverageUtilization
	}
	return "", "", nil
}

// requested sums the requests of the container, or of all containers and sidecars, like the
// HorizontalPodAutoscaler. It returns false if a request is missing or the sum is zero.
func (s Sizes) requested(p *pod.Pod, name corev1.ResourceName, container string) (float64, bool) {
	var sum resource.Quantity
	for i := range s {
		c := &p.Containers[i]
		if c.Init() && !c.Sidecar() || container != "" && container != c.Name() {
			continue
		}
		d := demandOf(c, s[i], name)
		if !d.requested {
			return 0, false
		}
		sum.Add(d.request)
	}
	return sum.AsApproximateFloat64(), !sum.IsZero()
}
