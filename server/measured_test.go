package server

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// measured keeps samples in memory, and knows what a test says. Samples that are as
// old as written are too old.
type measured struct {
	mu   sync.Mutex
	kept map[string]sample.Sample
	view *benchmark.View
	// err is why nothing can be kept, unread why nothing is known.
	err, unread error
	// views counts those that were asked for.
	views atomic.Int64
}

func byDefault() *settings.Settings {
	s := settings.Defaults()
	return &s
}

func newMeasured() *measured {
	return &measured{kept: map[string]sample.Sample{}, view: &benchmark.View{Settings: byDefault(), Baseline: "n2d"}}
}

// Add implements Benchmarks.
func (m *measured) Add(_ context.Context, add []sample.Sample) ([]samples.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keep(m.kept, add, m.err)
}

// Preview implements Benchmarks.
func (m *measured) Preview(add []sample.Sample) ([]samples.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keep(maps.Clone(m.kept), add, m.err)
}

func keep(kept map[string]sample.Sample, add []sample.Sample, err error) ([]samples.Outcome, error) {
	outcomes := make([]samples.Outcome, len(add))
	for i, s := range add {
		key := s.NodeType + " " + s.ID
		known, ok := kept[key]
		switch {
		case err != nil:
			outcomes[i] = -1
		case ok && known == s:
			outcomes[i] = samples.Known
		case ok:
			outcomes[i] = samples.Conflict
		case !s.Time.After(written):
			outcomes[i] = samples.Old
		default:
			kept[key] = s
		}
	}
	return outcomes, err
}

// Missing implements Benchmarks.
func (m *measured) Missing() error { return nil }

// NodeType implements Benchmarks for a cloud that has only families.
func (m *measured) NodeType(instanceType string) string { return nodetype.Family(instanceType) }

// Ready implements Benchmarks.
func (m *measured) Ready() error { return m.unread }

// View implements Benchmarks.
func (m *measured) View() (*benchmark.View, error) {
	m.views.Add(1)
	return m.view, m.unread
}

func (m *measured) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.kept)
}

// sampled is a good sample of a node type, as much later than written as said.
func sampled(id string, later time.Duration) *workloadresizerv1.BenchmarkSample {
	return &workloadresizerv1.BenchmarkSample{
		Id: id, NodeType: "n4", Machine: "m", Benchmark: "coremark", Score: 177656, Vcpus: 8, Threads: 8,
		MeasureTime: timestamppb.New(written.Add(later)),
	}
}

// measuring starts a server that keeps samples of nodes with these labels.
func measuring(t testing.TB, m *measured, nodes map[string]map[string]string) workloadresizerv1.BenchmarkServiceClient {
	t.Helper()
	var all []corev1.Node
	for name, labels := range nodes {
		all = append(all, corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}})
	}
	r := start(t, setup{cluster: frozen(t, nil, all), server: func(c *Config) { c.Benchmarks = m }}).known(t)
	return workloadresizerv1.NewBenchmarkServiceClient(r.conn)
}

// ingested sends a stream of one message per list.
func ingested(ctx context.Context, client workloadresizerv1.BenchmarkServiceClient, validateOnly bool, parts ...[]*workloadresizerv1.BenchmarkSample) (*workloadresizerv1.IngestSamplesResponse, error) {
	stream, err := client.IngestSamples(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := stream.Send(&workloadresizerv1.IngestSamplesRequest{Samples: part, ValidateOnly: validateOnly}); err != nil {
			break // What is wrong comes with the response.
		}
	}
	return stream.CloseAndRecv()
}
