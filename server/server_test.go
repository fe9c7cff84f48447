package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

func TestServer(t *testing.T) {
	t.Run("a missing configuration is reported everywhere", aMissingConfigurationIsReportedEverywhere)
}

func aMissingConfigurationIsReportedEverywhere(t *testing.T) {
	r := start(t, setup{ratios: ratios.Update{Err: errors.New("ConfigMap a/b does not exist")}})
	_, err := workloadresizerv1.NewRatioServiceClient(r.conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewRatioServiceClient(r.conn).GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	if code, body := r.get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.HasPrefix(body, "not ready: ratios: there are no valid ratios yet\n") {
		t.Errorf("/readyz returns %d %q", code, body)
	}
	if code, body := r.get(t, "/livez"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("/livez returns %d %q", code, body)
	}
	if code, body := r.get(t, "/metrics"); code != http.StatusOK || !strings.Contains(body, `workload_resizer_ratio_source_healthy{source="configmap"} 0`) {
		t.Errorf("/metrics returns %d %q", code, body)
	}

	changes := r.Store.Watch()
	r.Source.Set(ratios.Update{Layer: servertest.Layer()})
	<-changes
	_, err = workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	stream, err := workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	servertest.CheckError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")

	health, err := healthv1.NewHealthClient(r.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || health.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health is %v, %v", health, err)
	}
	for service, want := range map[string]healthv1.HealthCheckResponse_ServingStatus{
		"": healthv1.HealthCheckResponse_NOT_SERVING,
		workloadresizerv1.PlanService_ServiceDesc.ServiceName: healthv1.HealthCheckResponse_NOT_SERVING,
		"made.up.Service": healthv1.HealthCheckResponse_SERVICE_UNKNOWN,
	} {
		watch, err := healthv1.NewHealthClient(r.conn).Watch(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil {
			t.Fatal(err)
		}
		if health, err := watch.Recv(); err != nil || health.GetStatus() != want {
			t.Errorf("the health of %q is %v, %v", service, health, err)
		}
	}
}
