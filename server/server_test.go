package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/hold"
)

var written = time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)

func layer() *ratios.Layer {
	from := ratios.Provenance{Source: "configmap", UpdateTime: written, Author: "kubectl"}
	return &ratios.Layer{
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 1, MemoryPerf: 1, Provenance: from}, "n4": {CPUPerf: 1.25, MemoryPerf: 1, Provenance: from}},
		Bounds:   &ratios.Bounds{CPU: ratios.Range{Min: 50, Max: 16000}, Memory: ratios.Range{Min: 64 << 20}},
	}
}

// running is a server whose ratios are in the test's hands, and whose API
// server never answers.
type running struct {
	server *Server
	source *ratiotest.Memory
	store  *ratios.Store
	conn   *grpc.ClientConn
	http   string
}

func start(t *testing.T, state ratios.Update) *running {
	t.Helper()
	source := ratiotest.NewMemory("configmap", state)
	store := ratios.NewStore(source)
	nowhere := &rest.Config{Host: "https://127.0.0.1:1"}
	holds := hold.New(kubernetes.NewForConfigOrDie(nowhere), "a", "holds")
	loop, err := reconciler.New(reconciler.Config{
		Client:  kubernetes.NewForConfigOrDie(nowhere),
		Dynamic: dynamic.NewForConfigOrDie(nowhere),
		Writer:  kubernetes.NewForConfigOrDie(nowhere), Asker: kubernetes.NewForConfigOrDie(nowhere),
		Ratios:  store,
		Holds:   holds,
		Events:  reconciler.NoEvents(),
		Metrics: prometheus.NewRegistry(),
		Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	grpcListener, httpListener := listen(t), listen(t)
	s := New(Config{Ratios: store, Reconciler: loop, Holds: holds, Metrics: prometheus.NewRegistry(), GRPC: grpcListener, HTTP: httpListener})
	conn, err := grpc.NewClient(grpcListener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}

	changes := store.Watch()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 4)
	for _, part := range []func(context.Context) error{store.Run, holds.Run, loop.Run, s.Run} {
		go func() { done <- part(ctx) }()
	}
	t.Cleanup(func() {
		_ = conn.Close()
		cancel()
		for range 4 {
			if err := <-done; err != nil {
				t.Errorf("ended with %v", err)
			}
		}
	})
	<-changes
	return &running{s, source, store, conn, "http://" + httpListener.Addr().String()}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (r *running) get(t *testing.T, path string) (int, string) {
	t.Helper()
	response, err := http.Get(r.http + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
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
	r := start(t, ratios.Update{Layer: layer()})
	client := workloadresizerv1.NewRatioServiceClient(r.conn)
	got, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	from := &workloadresizerv1.Provenance{Source: "configmap", UpdateTime: timestamppb.New(written), Author: "kubectl"}
	want := &workloadresizerv1.ListRatiosResponse{
		BaselineNodeType: "n2d",
		Bounds:           &workloadresizerv1.Bounds{Cpu: &workloadresizerv1.QuantityRange{Min: "50m", Max: "16"}, Memory: &workloadresizerv1.QuantityRange{Min: "64Mi"}},
		Revision:         r.store.Table().Revision,
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

	changes := r.store.Watch()
	r.source.Set(ratios.Update{Err: errors.New("min 2 > max 1")})
	<-changes
	bad, err := client.ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if s := bad.GetSources()[0]; s.GetHealthy() || s.GetMessage() != "min 2 > max 1" || s.GetLastGoodTime() == nil || bad.GetRevision() != want.GetRevision() {
		t.Errorf("with bad content: %v", bad)
	}
}

func TestGetRatio(t *testing.T) {
	r := start(t, ratios.Update{Layer: layer()})
	client := workloadresizerv1.NewRatioServiceClient(r.conn)
	got, err := client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetRatio().GetNodeType() != "n4" || got.GetRatio().GetCpuFactor() != 0.8 || got.GetRevision() != r.store.Table().Revision {
		t.Errorf("got %v", got)
	}
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "c3"})
	checkError(t, err, codes.NotFound, "NODE_TYPE_UNKNOWN", `node type "c3" has no ratio`)
	_, err = client.GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{})
	checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "node_type must be set")
}

func TestWhatIsMissingIsSaidEverywhere(t *testing.T) {
	r := start(t, ratios.Update{Err: errors.New("ConfigMap a/b does not exist")})
	_, err := workloadresizerv1.NewRatioServiceClient(r.conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	checkError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewRatioServiceClient(r.conn).GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"})
	checkError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	_, err = workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	checkError(t, err, codes.Unavailable, "RATIOS_NOT_READY", "ConfigMap a/b does not exist")
	if code, body := r.get(t, "/readyz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "ConfigMap a/b does not exist") {
		t.Errorf("/readyz is %d %q", code, body)
	}
	if code, body := r.get(t, "/livez"); code != http.StatusOK || body != "ok\n" {
		t.Errorf("/livez is %d %q", code, body)
	}
	if code, body := r.get(t, "/metrics"); code != http.StatusOK || !strings.Contains(body, `workload_resizer_ratio_source_healthy{source="configmap"} 0`) {
		t.Errorf("/metrics is %d %q", code, body)
	}

	changes := r.store.Watch()
	r.source.Set(ratios.Update{Layer: layer()})
	<-changes
	_, err = workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	checkError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")
	stream, err := workloadresizerv1.NewPlanServiceClient(r.conn).PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	checkError(t, err, codes.Unavailable, "CACHE_NOT_READY", "pods and nodes are not read yet")

	health, err := healthv1.NewHealthClient(r.conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil || health.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health is %v, %v", health, err)
	}
}

func TestPreviewPodNamesTheFieldThatIsMissing(t *testing.T) {
	r := start(t, ratios.Update{Layer: layer()})
	client := workloadresizerv1.NewPlanServiceClient(r.conn)
	_, err := client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Pod: "b"})
	checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "namespace must be set")
	_, err = client.PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a"})
	checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "pod must be set")
}

func TestEveryMethodIsInTheAuthorizationTable(t *testing.T) {
	r := start(t, ratios.Update{Layer: layer()})
	registered := map[string]bool{}
	for service, info := range r.server.grpc.GetServiceInfo() {
		for _, method := range info.Methods {
			name := "/" + service + "/" + method.Name
			registered[name] = true
			if _, ok := methods[name]; !ok {
				t.Errorf("%s is not in the table, so nobody may call it", name)
			}
		}
	}
	for name := range methods {
		if !registered[name] {
			t.Errorf("%s is in the table, but no method of the server", name)
		}
	}
}

func TestAMethodThatIsNotInTheTableIsDenied(t *testing.T) {
	handled := false
	_, err := authorizeUnary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/a.B/C"}, func(context.Context, any) (any, error) {
		handled = true
		return nil, nil
	})
	checkError(t, err, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "/a.B/C")
	err = authorizeStream(nil, nil, &grpc.StreamServerInfo{FullMethod: "/a.B/D"}, func(any, grpc.ServerStream) error {
		handled = true
		return nil
	})
	checkError(t, err, codes.PermissionDenied, "METHOD_NOT_AUTHORIZED", "/a.B/D")
	if handled {
		t.Error("a denied call was handled")
	}
}

func TestAPanicTellsTheCallerNothingOfOurInsides(t *testing.T) {
	err := recovered(t.Context(), "secret state")
	checkError(t, err, codes.Internal, "INTERNAL", "the server failed on this call")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the caller sees %v", err)
	}
}
