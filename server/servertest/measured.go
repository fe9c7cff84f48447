package servertest

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Measured keeps samples in memory, and knows what a test says. Samples that are as
// old as written are too old.
type Measured struct {
	mu sync.Mutex
	// Kept are the samples by node type and id.
	Kept map[string]sample.Sample
	// Known is the View that there is.
	Known *judge.View
	// Read are the feeds.
	Read []fetch.Status
	// Err is why nothing can be kept, Unread why nothing is known.
	Err, Unread error
	// Views counts those that were asked for.
	Views atomic.Int64
}

// DefaultSettings are those of a server that is told nothing.
func DefaultSettings() *settings.Settings {
	s := settings.Defaults()
	return &s
}

// NewMeasured has measured nothing yet.
func NewMeasured() *Measured {
	return &Measured{Kept: map[string]sample.Sample{}, Known: &judge.View{Settings: DefaultSettings(), Baseline: "n2d"}}
}

// Add implements benchmarks.Measured.
func (m *Measured) Add(_ context.Context, add []sample.Sample) ([]samples.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keep(m.Kept, add, m.Err)
}

// Preview implements benchmarks.Measured.
func (m *Measured) Preview(add []sample.Sample) ([]samples.Outcome, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keep(maps.Clone(m.Kept), add, m.Err)
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
		case !s.Time.After(Written):
			outcomes[i] = samples.Old
		default:
			kept[key] = s
		}
	}
	return outcomes, err
}

// Missing implements benchmarks.Measured.
func (m *Measured) Missing() error { return nil }

// NodeType implements benchmarks.Measured for a cloud that has only families.
func (m *Measured) NodeType(instanceType string) string { return nodetype.Family(instanceType) }

// Feeds implements benchmarks.Measured.
func (m *Measured) Feeds() []fetch.Status { return m.Read }

// Ready implements benchmarks.Measured.
func (m *Measured) Ready() error { return m.Unread }

// View implements benchmarks.Measured.
func (m *Measured) View() (*judge.View, error) {
	m.Views.Add(1)
	return m.Known, m.Unread
}

// Size is how many samples are kept.
func (m *Measured) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.Kept)
}

// Sampled is a good sample of a node type, as much later than Written as said.
func Sampled(id string, later time.Duration) *workloadresizerv1.BenchmarkSample {
	return &workloadresizerv1.BenchmarkSample{
		Id: id, NodeType: "n4", Machine: "m", Benchmark: "coremark", Score: 177656, Vcpus: 8, Threads: 8,
		MeasureTime: timestamppb.New(Written.Add(later)),
	}
}

// Ingest sends a stream of one message per list.
func Ingest(ctx context.Context, client workloadresizerv1.BenchmarkServiceClient, validateOnly bool, parts ...[]*workloadresizerv1.BenchmarkSample) (*workloadresizerv1.IngestSamplesResponse, error) {
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
