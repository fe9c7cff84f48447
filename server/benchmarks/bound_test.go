package benchmarks

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/access"
	"github.com/workload-resizer/workload-resizer/server/servertest"
)

// onFleet returns a service in a cluster whose nodes have the same type. Only the node labeled
// has a label with its CPU model.
func onFleet(t *testing.T, m *servertest.Measured) *Service {
	t.Helper()
	var nodes []corev1.Node
	for _, name := range []string{"labeled", "bare", "bad", strings.Repeat("long.", 40) + "node"} {
		labels := map[string]string{nodetype.LabelGCPMachineFamily: "n4"}
		if name == "labeled" {
			labels[nodetype.LabelOwnCPUModel] = "Intel-6-207"
		}
		nodes = append(nodes, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	r := servertest.Start(t, servertest.Setup{Cluster: servertest.Frozen(t, nil, nodes)}).Known(t)
	return New(Config{Benchmarks: m, Reconciler: r.Loop})
}

// agentOn returns the caller whose token is bound to a node.
func agentOn(node string) access.Caller {
	return access.Caller{Name: "agent", Extra: map[string][]string{"authentication.kubernetes.io/node-name": {node}}}
}

// onNodes returns a function that sends samples as callers bound to nodes of a fleet.
func onNodes(t *testing.T, m *servertest.Measured) (send func(node string, samples ...*workloadresizerv1.BenchmarkSample) *workloadresizerv1.IngestSamplesResponse) {
	t.Helper()
	service := onFleet(t, m)
	return func(node string, samples ...*workloadresizerv1.BenchmarkSample) *workloadresizerv1.IngestSamplesResponse {
		t.Helper()
		in := &ingest{service: service, caller: agentOn(node)}
		if err := in.take(t.Context(), &workloadresizerv1.IngestSamplesRequest{Samples: samples}); err != nil {
			t.Fatal(err)
		}
		return &in.response
	}
}

// byAgent returns a sample as the agent of a node sends it.
func byAgent(id, node string) *workloadresizerv1.BenchmarkSample {
	s := servertest.Sampled(id, time.Hour)
	s.NodeType, s.Node, s.Benchmark, s.CpuModel, s.Runs = "", node, "bench-node:json", "made-up", new(int32(maxBoundRuns))
	return s
}

func TestBound(t *testing.T) {
	t.Run("a node can send only what its agent measures", aNodeCanSendOnlyWhatItsAgentMeasures)
	t.Run("the labels of a node determine its CPU model", theLabelsOfANodeDetermineItsCPUModel)
	t.Run("nodes do not share IDs", nodesDoNotShareIDs)
	t.Run("ingesting samples creates no view", ingestingSamplesCreatesNoView)
}

func aNodeCanSendOnlyWhatItsAgentMeasures(t *testing.T) {
	m := servertest.NewMeasured()
	send := onNodes(t, m)
	for _, tc := range []struct {
		name    string
		change  func(*workloadresizerv1.BenchmarkSample)
		field   string
		message string
	}{
		{"a benchmark of the agent", func(*workloadresizerv1.BenchmarkSample) {}, "", ""},
		{"another benchmark", func(s *workloadresizerv1.BenchmarkSample) { s.Benchmark = "coremark" }, "benchmark", `must begin with "bench-node:", but is "coremark": your token is bound to a node`},
		{"a prefix without a name", func(s *workloadresizerv1.BenchmarkSample) { s.Benchmark = "bench-node:" }, "benchmark", "must be up to 128 letters"},
		{"too many runs", func(s *workloadresizerv1.BenchmarkSample) { *s.Runs++ }, "runs", "must be at most 10000, not 10001: your token is bound to a node"},
		{"no id", func(s *workloadresizerv1.BenchmarkSample) { s.Id = "" }, "id", "must be set"},
		{"a long id", func(s *workloadresizerv1.BenchmarkSample) { s.Id = strings.Repeat("a", 129) }, "id", "must have at most 128 bytes, not 129"},
		{"another node", func(s *workloadresizerv1.BenchmarkSample) { s.Node = "bad" }, "node", `must be "bare"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := byAgent("id", "bare")
			tc.change(s)
			response := send("bare", byAgent("first", "bare"), s)
			if tc.field == "" {
				if response.GetRejected() > 0 {
					t.Errorf("got %v", response)
				}
				return
			}
			if response.GetRejected() != 1 {
				t.Fatalf("got %v", response)
			}
			if e := response.GetErrors()[0]; e.GetIndex() != 1 || e.GetId() != clip(s.GetId(), maxIDBytes) || e.GetField() != tc.field || !strings.HasPrefix(e.GetMessage(), tc.message) {
				t.Errorf("got %v, want %q for %s", e, tc.message, tc.field)
			}
		})
	}
}

func theLabelsOfANodeDetermineItsCPUModel(t *testing.T) {
	m := servertest.NewMeasured()
	send := onNodes(t, m)
	send("labeled", byAgent("a", "labeled"))
	send("bare", byAgent("a", "bare"))
	got := map[string]string{}
	for key, s := range m.Kept {
		got[key] = s.CPUModel
	}
	if diff := cmp.Diff(map[string]string{"n4 labeled/a": "Intel-6-207", "n4 bare/a": "made-up"}, got); diff != "" {
		t.Error(diff)
	}
}

func nodesDoNotShareIDs(t *testing.T) {
	m := servertest.NewMeasured()
	send := onNodes(t, m)
	long := strings.Repeat("long.", 40) + "node"
	for _, node := range []string{"bad", "bare", long} {
		for _, want := range []*workloadresizerv1.IngestSamplesResponse{{Stored: 2}, {Known: 2}} {
			got := send(node, byAgent("same", node), byAgent(strings.Repeat("i", sample.MaxIDBytes), node))
			if got.GetStored() != want.GetStored() || got.GetKnown() != want.GetKnown() || got.GetRejected() > 0 {
				t.Errorf("%s: %v, want %v", node, got, want)
			}
		}
	}
	other := byAgent("same", long)
	other.Score++
	response := send(long, other)
	if e := response.GetErrors(); len(e) != 1 || e[0].GetCode() != workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_ID_CONFLICT || e[0].GetId() != "same" {
		t.Errorf("another sample with the same id: %v", response)
	}
	for key, s := range m.Kept {
		if len(s.ID) > sample.MaxIDBytes {
			t.Errorf("%s is too long", key)
		}
	}
	if m.Size() != 6 {
		t.Errorf("%d samples are stored", m.Size())
	}
}

// Creating a view takes long, and all nodes in a large cluster send samples at the same time.
func ingestingSamplesCreatesNoView(t *testing.T) {
	m := servertest.NewMeasured()
	client := measuring(t, m, nil)
	for _, id := range []string{"a", "b"} {
		if _, err := servertest.Ingest(t.Context(), client, false, []*workloadresizerv1.BenchmarkSample{servertest.Sampled(id, time.Hour)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := m.Views.Load(); m.Size() != 2 || n != 0 {
		t.Errorf("%d samples are stored, %d views were created", m.Size(), n)
	}
}
