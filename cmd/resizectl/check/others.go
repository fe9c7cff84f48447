package check

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/reconciler/safety"
)

// autoscalers checks what else depends on requests, or changes them.
func (s *subject) autoscalers(ctx context.Context) []Result {
	return []Result{s.horizontal(ctx), s.vertical(ctx)}
}

func (s *subject) horizontal(ctx context.Context) Result {
	const check = "horizontal-pod-autoscalers"
	all, err := s.kube.AutoscalingV2().HorizontalPodAutoscalers(metav1.NamespaceAll).List(ctx, metav1.ListOptions{})
	if err != nil {
		return unknown(check, "HorizontalPodAutoscalers", err)
	}
	var byShare []string
	for i := range all.Items {
		if hpa := &all.Items[i]; safety.ScalesByUtilization(hpa) {
			byShare = append(byShare, hpa.Namespace+"/"+hpa.Name)
		}
	}
	if len(byShare) == 0 {
		return ok(check, "no HorizontalPodAutoscaler scales by a percentage of requests")
	}
	return warning(check, aboutReason(contract.HPAUtilization, nil),
		"resizes change what these HorizontalPodAutoscalers measure, a percentage of requests, which is not sized by usage (HPAUtilization): %s", some(byShare))
}

var vpas = schema.GroupVersionResource{Group: "autoscaling.k8s.io", Version: "v1", Resource: "verticalpodautoscalers"}

func (s *subject) vertical(ctx context.Context) Result {
	const check = "vertical-pod-autoscalers"
	all, err := s.dynamic.Resource(vpas).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "the Vertical Pod Autoscaler is not installed")
	case err != nil:
		return unknown(check, "VerticalPodAutoscalers", err)
	}
	var active []string
	for i := range all.Items {
		vpa := &all.Items[i]
		// A mode of another type counts as missing, and a missing one is active.
		mode, _, _ := unstructured.NestedString(vpa.Object, "spec", "updatePolicy", "updateMode")
		if safety.VPAActive(mode) {
			active = append(active, vpa.GetNamespace()+"/"+vpa.GetName())
		}
	}
	if len(active) == 0 {
		return ok(check, "no VerticalPodAutoscaler resizes pods that run")
	}
	return warning(check, aboutReason(contract.ActiveVPA, nil), "the pods of these VerticalPodAutoscalers are not resized (ActiveVPA): %s", some(active))
}

// metrics checks what the optional parts need: usage as a source of sizes, and alerts.
func (s *subject) metrics(ctx context.Context) []Result {
	return []Result{s.metricsServer(ctx), s.prometheus(ctx)}
}

const metricsService = "v1beta1.metrics.k8s.io"

// metricsServer checks the APIService, whose conditions show whether its server answers.
func (s *subject) metricsServer(ctx context.Context) Result {
	const check = "metrics-server"
	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	service, err := s.dynamic.Resource(services).Get(ctx, metricsService, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "metrics.k8s.io is not installed; only usage and \"kubectl top\" need it")
	case err != nil:
		return unknown(check, "metrics.k8s.io", err)
	}
	conditions, _, _ := unstructured.NestedSlice(service.Object, "status", "conditions")
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == "Available" && c["status"] == "True" {
			return ok(check, "metrics.k8s.io answers")
		}
	}
	return warning(check, "find out why: kubectl describe apiservice "+metricsService, "metrics.k8s.io is installed, but does not answer")
}

func (s *subject) prometheus(ctx context.Context) Result {
	const check = "prometheus-operator"
	_, err := s.kube.Discovery().ServerResourcesForGroupVersionWithContext(ctx, "monitoring.coreos.com/v1")
	switch {
	case apierrors.IsNotFound(err):
		return ok(check, "the Prometheus operator is not installed; without it, configure Prometheus as in docs/operations.md#metrics-and-alerts")
	case err != nil:
		return unknown(check, "the Prometheus operator", err)
	}
	return ok(check, "the Prometheus operator is installed; deploy/components/monitoring has the ServiceMonitor and the alerts")
}
