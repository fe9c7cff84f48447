package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

var written = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

func layer() *ratios.Layer {
	from := ratios.Provenance{Source: "configmap", UpdateTime: servertest.Written, Author: "kubectl"}
	return &ratios.Layer{
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1, Provenance: from}, "n4": {CPUPerf: 1.25, MemoryPerf: 1, Provenance: from}},
		Bounds:   &ratios.Bounds{CPU: ratios.Range{Min: 50, Max: 16000}, Memory: ratios.Range{Min: 64 << 20}},
	}
}

// checkError checks code, ErrorInfo and message of an error.
func checkError(t *testing.T, err error, code codes.Code, reason, message string) {
	t.Helper()
	s := status.Convert(err)
	var info *errdetails.ErrorInfo
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			info = i
		}
	}
	if s.Code() != code || info.GetReason() != reason || info.GetDomain() != "workload-resizer.io" || !strings.Contains(s.Message(), message) {
		t.Errorf("%s %q %v, want %s %q %s", s.Code(), s.Message(), info, code, message, reason)
	}
}

func TestListRatios(t *testing.T) {
	r := start(t, setup{})
	client := workloadresizerv1.NewRatioServiceClient(r.conn)
	got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	from := &workloadresizerv1.Provenance{Source: "configmap", UpdateTime: timestamppb.New(servertest.Written), Author: "kubectl"}
	want := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: "n2d",
		Bounds:           &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"}, Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"}},
		Revision:         r.Store.Table().Revision,
		Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "n2d", CpuPerf: 1, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1, MemoryPerf: 1, Provenance: from}}},
			{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 0.8, MemoryFactor: 1, Provenance: from,
				Candidates: []*workloadresizerv1.RatioCandidate{{CpuPerf: 1.25, MemoryPerf: 1, Provenance: from}}},
		},
		Sources: []*workloadresizerv1.RatioSource{{Name: "configmap", Healthy: true}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.RatioSource{}, "last_good_time")); diff != "" {
		t.Error(diff)
	}
	if got.GetSources()[0].GetLastGoodTime() == nil {
		t.Error("the source has no last good time")
	}

	changes := r.Store.Watch()
	r.Source.Set(ratios.Update{Err: errors.New("min 2 > max 1")})
	<-changes
	bad, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s := bad.GetSources()[0]; s.GetHealthy() || s.GetMessage() != "min 2 > max 1" || s.GetLastGoodTime() == nil || bad.GetRevision() != want.GetRevision() {
		t.Errorf("with bad content: %v", bad)
	}
}

func TestListRatiosTellsTheRules(t *testing.T) {
	l := servertest.Layer()
	l.Rules = []ratios.Rule{{
		Name:     "overrides[0] (critical)",
		Match:    ratios.Match{ComputeClass: "Performance"},
		Baseline: "n4",
		Ratios:   map[string]ratios.Ratio{"c3": {CPUPerf: 2.5, MemoryPerf: 1}},
	}}
	r := start(t, setup{ratios: ratios.Update{Layer: l}})
	got, err := workloadresizerv1.NewRatioServiceClient(r.conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := []*workloadresizerv1.RatioRule{{
		Name: "overrides[0] (critical)", BaselineNodeType: "n4", Bounds: got.GetBounds(),
		Ratios: []*workloadresizerv1.Ratio{
			{NodeType: "c3", CpuPerf: 2.5, MemoryPerf: 1, CpuFactor: 0.5, MemoryFactor: 1},
			{NodeType: "n2d", CpuPerf: 1, MemoryPerf: 1, CpuFactor: 1.25, MemoryFactor: 1},
			{NodeType: "n4", CpuPerf: 1.25, MemoryPerf: 1, CpuFactor: 1, MemoryFactor: 1, Baseline: true},
		},
	}}
	if diff := cmp.Diff(want, got.GetRules(), protocmp.Transform(), protocmp.IgnoreFields(&workloadresizerv1.Ratio{}, "provenance", "candidates")); diff != "" {
		t.Error(diff)
	}
}

func TestGetRatio(t *testing.T) {
	r := start(t, setup{})
	client := workloadresizerv1.NewRatioServiceClient(r.conn)
	got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetRatio().GetNodeType() != "n4" || got.GetRatio().GetCpuFactor() != 0.8 || got.GetRevision() != r.Store.Table().Revision {
		t.Errorf("got %v", got)
	}
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "c3"})
	servertest.CheckError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{})
	servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "node_type must be set")
}

func TestWhatIsMissingIsSaidEverywhere(t *testing.T) {
	r := start(t, setup{ratios: ratios.Update{Err: errors.New("ConfigMap a/b does not exist")}})
	_, err := workloadresizerv1.NewRatioServiceClient(r.conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewRatioServiceClient(r.conn).GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	servertest.CheckError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	if code, body := r.get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "ConfigMap a/b does not exist") {
		t.Errorf("/readyz is %d %q", code, body)
	}
	if code, body := r.get(t, "/livez"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("/livez is %d %q", code, body)
	}
	if code, body := r.get(t, "/metrics"); code != http.StatusOK || !strings.Contains(body, `workload_resizer_ratio_source_healthy{source="configmap"} 0`) {
		t.Errorf("/metrics is %d %q", code, body)
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
}
