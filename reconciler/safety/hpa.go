package safety

import (
	"fmt"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/workload-resizer/workload-resizer/reconciler/pod"
)

// HPAWarning says what a resize of the pod means to a HorizontalPodAutoscaler
// of its workload: where that counts usage in shares of requests, other
// requests make another share of the same load. It is "" where nothing changes
// for it.
func HPAWarning(hpa *autoscalingv2.HorizontalPodAutoscaler, p *pod.Pod, before, after Sizes) string {
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
		of := ""
		if container != "" {
			of = " of container " + container
		}
		told = append(told, fmt.Sprintf("HorizontalPodAutoscaler %s scales on %d%% of %s requests%s: after this resize the same load reads as %.3g times the utilisation", hpa.Name, *target, name, of, was/is))
	}
	return strings.Join(told, "; ")
}

// utilization returns what a metric counts in shares of requests: the resource,
// the container ("" for all), and the target in percent, nil if it does not.
func utilization(metric *autoscalingv2.MetricSpec) (name corev1.ResourceName, container string, target *int32) {
	switch {
	case metric.Resource != nil:
		return metric.Resource.Name, "", metric.Resource.Target.AverageUtilization
	case metric.ContainerResource != nil:
		return metric.ContainerResource.Name, metric.ContainerResource.Container, metric.ContainerResource.Target.AverageUtilization
	}
	return "", "", nil
}

// requested sums the requests of the container, or of all containers and
// sidecars, as the HorizontalPodAutoscaler does; false where it cannot because
// one is missing or nothing is requested.
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
