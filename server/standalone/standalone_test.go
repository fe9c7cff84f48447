package standalone_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	resizer "github.com/workload-resizer/workload-resizer/client"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/file"
	"github.com/workload-resizer/workload-resizer/server/standalone"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

const config = `baselineNodeType: n2d
nodeTypes:
  n2d: {cpuPerf: 1, memPerf: 1}
  n4: {cpuPerf: 1.25, memPerf: 1}
podAnnotations:
  example.com/tier:
    gold: {nodeTypes: {c3: {cpuPerf: 2, memPerf: 1}}}
`

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {annotations: {%s}}
    spec: {containers: [{name: app, resources: {requests: {cpu: 1}, limits: {cpu: 2}}}]}
`

func started(t *testing.T) *grpc.ClientConn {
	t.Helper()
	conn, stop, err := standalone.Start(t.Context(), []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func checkError(t *testing.T, err error, code codes.Code, reason, message string) {
	t.Helper()
	s := status.Convert(err)
	got := ""
	for _, d := range s.Details() {
		if info, ok := d.(*errdetails.ErrorInfo); ok {
			got = info.GetReason()
		}
	}
	if s.Code() != code || got != reason || !strings.Contains(s.Message(), message) {
		t.Errorf("%s %q %q, want %s %q %s", s.Code(), s.Message(), got, code, message, reason)
	}
}

// plansOf returns the cpu requests by node type, or why there are none.
func plansOf(o *workloadresizerv1.ManifestPlan) string {
	var all []string
	for _, p := range o.GetPlans() {
		text := p.GetContainers()[0].GetDesired().GetRequests()["cpu"]
		if p.GetDecision() == workloadresizerv1.Decision_DECISION_SKIP {
			text = p.GetReasons()[0].GetCode()
		}
		all = append(all, p.GetNodeType()+"="+text)
	}
	return strings.Join(all, " ")
}

func TestPreviewManifest(t *testing.T) {
	client := workloadresizerv1.NewPlanServiceClient(started(t))
	plain := fmt.Sprintf(deployment, "")
	faster := &workloadresizerv1.WhatIf{Ratios: []*workloadresizerv1.AssumedRatio{{NodeType: "n4", CpuPerf: new(4.0)}, {NodeType: "e2", CpuPerf: new(0.5), MemoryPerf: new(1.0)}}, NodeType: "ignored"}
	for _, tc := range []struct {
		name, manifest string
		nodeTypes      []string
		what           *workloadresizerv1.WhatIf
		want           string
	}{
		{"each node type of the table", plain, nil, nil, "n2d=1 n4=800m"},
		{"the named node types, sorted and without duplicates", plain, []string{"n4", "n2d", "n4"}, nil, "n2d=1 n4=800m"},
		{"the node types of the what-if, too", plain, nil, faster, "e2=2 n2d=1 n4=250m"},
		{"the node types of the rule of its pods, too", fmt.Sprintf(deployment, "example.com/tier: gold"), nil, nil, "c3=500m n2d=1 n4=800m"},
		{"a node type of a rule that does not match", plain, []string{"c3"}, nil, "c3=UnknownNodeType"},
		{"pods that opt out", fmt.Sprintf(deployment, `workload-resizer.io/skip: "true"`), []string{"n4"}, nil, "n4=OptedOut"},
		{"a controller that is not resized", "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: old}\nspec: {template: {spec: {containers: [{name: a, resources: {requests: {cpu: 1}}}]}}}", []string{"n4"}, nil, "n4=NotOwned"},
		{"a pod, as if it had a controller", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]}", []string{"n4"}, nil, "n4=800m"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := resizer.PreviewManifest(t.Context(), client, &workloadresizerv1.PreviewManifestRequest{Manifest: tc.manifest, NodeTypes: tc.nodeTypes, WhatIf: tc.what})
			if err != nil || len(got.GetObjects()) != 1 || plansOf(got.GetObjects()[0]) != tc.want {
				t.Fatalf("%v, %v; want %s", got, err, tc.want)
			}
			for _, p := range got.GetObjects()[0].GetPlans() {
				if p.GetNode() != "" || p.GetRatioRevision() == "" || p.GetQosClass() == "" {
					t.Errorf("plan %v", p)
				}
			}
		})
	}
}

func TestStandalone(t *testing.T) {
	t.Run("returns the plans by object", returnsThePlansByObject)
	t.Run("returns why a manifest cannot be planned", returnsWhyAManifestCannotBePlanned)
	t.Run("returns ratios and refuses methods that need a cluster", returnsRatiosAndRefusesMethodsThatNeedACluster)
	t.Run("does not start with an invalid configuration", doesNotStartWithAnInvalidConfiguration)
	t.Run("a server with a file follows it, and is ready once it is valid", aServerWithAFileFollowsItAndIsReadyOnceItIsValid)
}

func returnsThePlansByObject(t *testing.T) {
	text := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n---\n" + fmt.Sprintf(deployment, "") + "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: app}]}\n"
	got, err := resizer.PreviewManifest(t.Context(), workloadresizerv1.NewPlanServiceClient(started(t)), &workloadresizerv1.PreviewManifestRequest{Manifest: text})
	if err != nil || len(got.GetObjects()) != 2 || strings.Join(got.GetIgnored(), ",") != "Service web" {
		t.Fatalf("%v, %v", got, err)
	}
	web, pod := got.GetObjects()[0], got.GetObjects()[1]
	if web.GetKind() != "Deployment" || web.GetNamespace() != "shop" || web.GetName() != "web" || len(web.GetWarnings()) > 0 {
		t.Errorf("%v", web)
	}
	if pod.GetKind() != "Pod" || pod.GetNamespace() != "" || len(pod.GetWarnings()) != 1 || plansOf(pod) != "n2d=NoRequests n4=NoRequests" {
		t.Errorf("%v", pod)
	}
}

func returnsWhyAManifestCannotBePlanned(t *testing.T) {
	client := workloadresizerv1.NewPlanServiceClient(started(t))
	objects := strings.Repeat("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n---\n", 10001)
	pod := func(container string, n int) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, container+", ", fmt.Sprint("c", i))
		}
		return "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [" + all.String() + "]}}\n---\n"
	}
	many := strings.Repeat(pod("{name: %s}", 5001), 2) // Counted for each of two node types.
	var containers strings.Builder
	for i := range 10001 {
		fmt.Fprintf(&containers, "{name: c%d}, ", i)
	}
	const c = "{name: %s, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}"
	large := strings.Repeat(pod(c, 950), 10)
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.PreviewManifestRequest
		want    string
	}{
		{"no manifest", &workloadresizerv1.PreviewManifestRequest{}, "manifest must be set"},
		{"an invalid manifest", &workloadresizerv1.PreviewManifestRequest{Manifest: "kind: Pod"}, "manifest document 1 (line 1): must be a Kubernetes object"},
		{"no object that creates pods", &workloadresizerv1.PreviewManifestRequest{Manifest: "{apiVersion: v1, kind: Service, metadata: {name: web}}"}, "ignored: Service web"},
		{"a node type without a ratio", &workloadresizerv1.PreviewManifestRequest{Manifest: fmt.Sprintf(deployment, ""), NodeTypes: []string{"n4", "c4"}}, `node_types[1] "c4" has no ratio, but these have: c3, n2d, n4; set one`},
		{"too many objects and lists", &workloadresizerv1.PreviewManifestRequest{Manifest: objects}, "more than 40000 objects and lists"},
		{"too many containers for the node types", &workloadresizerv1.PreviewManifestRequest{Manifest: many}, "20004 containers"},
		{"too many containers", &workloadresizerv1.PreviewManifestRequest{Manifest: "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [" + containers.String() + "]}}"}, "containers: has more than 10000 elements"},
		{"a response that is too large", &workloadresizerv1.PreviewManifestRequest{Manifest: large}, "a response of more than 3 MiB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := resizer.PreviewManifest(t.Context(), client, tc.request)
			checkError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", tc.want)
		})
	}
}

func returnsRatiosAndRefusesMethodsThatNeedACluster(t *testing.T) {
	conn := started(t)
	list, err := workloadresizerv1.NewRatioServiceClient(conn).ListRatios(t.Context(), &workloadresizerv1.ListRatiosRequest{})
	if err != nil || len(list.GetRatios()) != 2 || list.GetSources()[0].GetName() != "file" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := workloadresizerv1.NewRatioServiceClient(conn).GetRatio(t.Context(), &workloadresizerv1.GetRatioRequest{NodeType: "n4"}); err != nil {
		t.Error(err)
	}
	const said = "runs standalone, without a cluster"
	_, err = workloadresizerv1.NewPlanServiceClient(conn).PreviewPod(t.Context(), &workloadresizerv1.PreviewPodRequest{Namespace: "a", Pod: "b"})
	checkError(t, err, codes.Unimplemented, "STANDALONE", said)
	stream, err := workloadresizerv1.NewPlanServiceClient(conn).PreviewPlans(t.Context(), &workloadresizerv1.PreviewPlansRequest{})
	if err == nil {
		_, err = stream.Recv()
	}
	checkError(t, err, codes.Unimplemented, "STANDALONE", said)
	_, err = workloadresizerv1.NewHoldServiceClient(conn).Restore(t.Context(), &workloadresizerv1.RestoreRequest{})
	checkError(t, err, codes.Unimplemented, "STANDALONE", said)
	_, err = workloadresizerv1.NewHoldServiceClient(conn).ListHolds(t.Context(), &workloadresizerv1.ListHoldsRequest{})
	checkError(t, err, codes.Unimplemented, "STANDALONE", said)
}

func doesNotStartWithAnInvalidConfiguration(t *testing.T) {
	_, _, err := standalone.Start(t.Context(), []byte("baselineNodeType: n9\nnodeTypes: {n4: {cpuPerf: fast, memPerf: 1}}"))
	if err == nil || !strings.Contains(err.Error(), "nodeTypes.n4.cpuPerf: line 2") || !strings.Contains(err.Error(), "baselineNodeType") {
		t.Errorf("got %v", err)
	}
}

func aServerWithAFileFollowsItAndIsReadyOnceItIsValid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	grpcListener, httpListener := listen(), listen()
	ended := make(chan error, 1)
	go func() {
		ended <- standalone.Run(t.Context(), standalone.Config{Source: file.New(path), GRPC: grpcListener, HTTP: httpListener})
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + httpListener.Addr().String() + path)
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
	conn, err := grpc.NewClient(grpcListener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	healthOf := func() healthv1.HealthCheckResponse_ServingStatus {
		got, err := healthv1.NewHealthClient(conn).Check(t.Context(), &healthv1.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetStatus()
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		localcluster.Eventually(t, what, func() error {
			if !holds() {
				return fmt.Errorf("not yet")
			}
			return nil
		})
	}

	until("the missing file to be reported", func() bool {
		code, body := get("/readyz")
		return code == http.StatusServiceUnavailable && body == "not ready: ratios: there are no valid ratios yet\nThe cause is in the server's log.\n" && healthOf() == healthv1.HealthCheckResponse_NOT_SERVING
	})
	if code, _ := get("/livez"); code != http.StatusOK {
		t.Errorf("/livez returns %d", code)
	}
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	until("the file to take effect", func() bool {
		code, body := get("/readyz")
		return code == http.StatusOK && body == "ok\n" && healthOf() == healthv1.HealthCheckResponse_SERVING
	})
	if code, body := get("/metrics"); code != http.StatusOK || !strings.Contains(body, `workload_resizer_ratio_source_healthy{source="file"} 1`) {
		t.Errorf("/metrics returns %d %s", code, body)
	}
	if err := os.WriteFile(path, []byte("bad"), 0o600); err != nil {
		t.Fatal(err)
	}
	until("the last good file to stay in effect", func() bool {
		code, body := get("/readyz")
		return code == http.StatusOK && strings.Contains(body, "warning: ratios: the last good ratios are in effect\n")
	})
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		conn, stop, err := standalone.Start(b.Context(), []byte(config))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := resizer.PreviewManifest(b.Context(), workloadresizerv1.NewPlanServiceClient(conn), &workloadresizerv1.PreviewManifestRequest{Manifest: fmt.Sprintf(deployment, "")}); err != nil {
			b.Fatal(err)
		}
		if err := stop(); err != nil {
			b.Fatal(err)
		}
	}
	if each := b.Elapsed() / time.Duration(b.N); each > time.Second {
		b.Errorf("starting, planning once and stopping take %s", each)
	}
}
