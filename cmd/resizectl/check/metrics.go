package check

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
		return ok(check, "the Prometheus operator is not installed; without it, configure Prometheus as in docs/tasks/prometheus.md")
	case err != nil:
		return unknown(check, "the Prometheus operator", err)
	}
	return ok(check, "the Prometheus operator is installed; deploy/components/monitoring has the ServiceMonitor and the alerts")
}
