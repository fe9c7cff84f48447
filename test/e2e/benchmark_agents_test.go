package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/workload-resizer/workload-resizer/client"
	"github.com/workload-resizer/workload-resizer/deploy"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

// speeds are the speeds of the node types in the samples. Each type has two nodes.
var speeds = map[string]float64{"n2d": 1, "n4": 1.4, "c3": 0.98}

// agentToken returns a file with the token of the agent on a node.
func (b *benchmarked) agentToken(t *testing.T, node string) string {
	t.Helper()
	pod := b.agentOn(t, node)
	return b.tokenFile(t, deploy.Namespace, benchNode, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID})
}

// agent returns a client with the token of the agent on a node.
func (b *benchmarked) agent(t *testing.T, node string) *client.Client {
	t.Helper()
	return dialSecured(t, b.s.GRPCAddress, b.cert.CertFile, b.agentToken(t, node))
}

// realAgent runs the agent, which measures the machine of the test. If other processes leave too
// little of the machine, the agent measures only some kernels, or must discard the measurements and report why.
func (b *benchmarked) realAgent(t *testing.T) {
	code, _, stderr := run(t, "workload-resizer", "bench-node", "--server", b.s.GRPCAddress, "--server-ca-file", b.cert.CertFile,
		"--token-file", b.agentToken(t, "x9-0"), "--node-name", "x9-0")
	t.Logf("exit code %d:\n%s", code, stderr)
	known := b.ask(t, 0, b.viewer, "benchmark", "list", "x9")
	switch {
	case code == 0:
		measured := regexp.MustCompile(`(?m)^ *(bench-node:\S+) +[\d.]+ `).FindAllStringSubmatch(stderr, -1)
		for _, kernel := range measured {
			rows(t, known, `x9 \S+ `+kernel[1]+" ")
		}
		if len(measured) == 0 {
			t.Error("the agent reports no kernel that it has measured")
		}
	case !strings.Contains(stderr, "no valid measurement: the node was busy: ") && !strings.Contains(stderr, "no valid measurement: no kernel was measured"):
		t.Error("the agent failed, but not because the machine is busy")
	case strings.Contains(known, "bench-node:"):
		t.Errorf("the agent has sent measurements that do not count:\n%s", known)
	}
}

// agentsSend sends two runs from each node. They are recordings of a real run of the
// agent, scaled to the speed of the node.
func (b *benchmarked) agentsSend(t *testing.T) {
	for nodeType, speed := range speeds {
		for n := range 2 {
			node := fmt.Sprintf("%s-%d", nodeType, n)
			samples := recorded(t, node, speed)
			agent := b.agent(t, node)
			for _, want := range []*workloadresizerv1.IngestSamplesResponse{{Stored: int64(len(samples))}, {Known: int64(len(samples))}} {
				got, err := agent.IngestSamples(t.Context(), samples, false)
				if err != nil || got.GetStored() != want.GetStored() || got.GetKnown() != want.GetKnown() || got.GetRejected() > 0 {
					t.Fatalf("samples of %s: %v, %v; want %v", node, got, err, want)
				}
			}
		}
	}
	rows(t, b.ask(t, 0, b.viewer, "benchmark", "list"),
		`c3 AMD-26-2 bench-node:json 4 2 `, `n2d AMD-26-2 bench-node:json 4 2 `, `n4 AMD-26-2 bench-node:sha256 4 2 `)
}

// recorded returns the samples of a real run as samples of a node, scaled by the speed.
func recorded(t *testing.T, node string, speed float64) []*workloadresizerv1.BenchmarkSample {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "bench-node.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*workloadresizerv1.BenchmarkSample
	for line := range strings.Lines(string(content)) {
		var s sample.Sample
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		for run, noise := range []float64{1, 1.002} {
			all = append(all, &workloadresizerv1.BenchmarkSample{
				Id: fmt.Sprintf("%s/%s/%d", s.Benchmark, node, run), Node: node, CpuModel: s.CPUModel,
				Benchmark: s.Benchmark, Version: s.Version, Unit: s.Unit,
				Score: s.Score * speed * noise, SingleThreadScore: new(s.SingleThread * speed * noise),
				Vcpus: int32(s.VCPUs), Threads: int32(s.Threads), MeasureTime: timestamppb.New(time.Now().Truncate(time.Second)),
			})
		}
	}
	return all
}

func (b *benchmarked) ownNodeOnly(t *testing.T) {
	before := b.ask(t, 0, b.viewer, "benchmark", "list", "n4", "-o", "json")
	samples := recorded(t, "n4-0", 10)
	got, err := b.agent(t, "n2d-0").IngestSamples(t.Context(), samples, false)
	if err != nil {
		t.Fatal(err)
	}
	if got.GetRejected() != int64(len(samples)) || got.GetErrors()[0].GetCode() != workloadresizerv1.SampleErrorCode_SAMPLE_ERROR_CODE_NODE_NOT_YOURS {
		t.Errorf("got %v", got)
	}
	if after := b.ask(t, 0, b.viewer, "benchmark", "list", "n4", "-o", "json"); after != before {
		t.Errorf("n4 changed from %s to %s", before, after)
	}
	if _, err := b.agent(t, "n2d-0").Benchmarks().ListSuggestions(t.Context(), &workloadresizerv1.ListSuggestionsRequest{}); client.Reason(err) != "NOT_AUTHORIZED" {
		t.Errorf("an agent that reads gets %v", err)
	}
}
