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
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
)

// Measured keeps samples in memory, and returns what a test sets. Samples that are not newer
// than Written are too old.
type Measured struct {
	mu sync.Mutex
	// Kept has the stored samples by node type and id.
	Kept map[string]sample.Sample
	// Claims are the granted claims, of which there can be Wanted.
	Claims []intake.Claim
	Wanted int
	// Known is the View to return.
	Known *judge.View
	// Read has the feeds.
	Read []fetch.Status
	// Err is why nothing can be stored, and Unread why nothing is known.
	Err, Unread error
	// Views is the number of calls of View.
	Views atomic.Int64
}

// DefaultSettings returns the settings of a server without configuration.
func DefaultSettings() *settings.Settings {
	s := settings.Defaults()
	return &s
}

// NewMeasured returns a Measured without samples.
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

// Claim implements benchmarks.Measured. It grants claims up to Wanted.
func (m *Measured) Claim(c intake.Claim, preview bool) intake.Standing {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := intake.Standing{Granted: len(m.Claims) < m.Wanted, Machines: len(m.Claims), Wanted: m.Wanted}
	if s.Granted && !preview {
		m.Claims = append(m.Claims, c)
	}
	return s
}

// Missing implements benchmarks.Measured.
func (m *Measured) Missing() error { return nil }

// NodeType implements benchmarks.Measured for a cloud in which node types are families.
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

// Size returns the number of stored samples.
func (m *Measured) Size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.Kept)
}

// Sampled returns a valid sample of a node type, measured at Written plus later.
func Sampled(id string, later time.Duration) *workloadresizerv1.BenchmarkSample {
	return &workloadresizerv1.BenchmarkSample{
		Id: id, NodeType: "n4", Machine: "m", Benchmark: "coremark", Score: 177656, Vcpus: 8, Threads: 8,
		MeasureTime: timestamppb.New(Written.Add(later)),
	}
}

// Ingest sends a stream with one message per list.
func Ingest(ctx context.Context, client workloadresizerv1.BenchmarkServiceClient, validateOnly bool, parts ...[]*workloadresizerv1.BenchmarkSample) (*workloadresizerv1.IngestSamplesResponse, error) {
	stream, err := client.IngestSamples(ctx)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		if err := stream.Send(&workloadresizerv1.IngestSamplesRequest{Samples: part, ValidateOnly: validateOnly}); err != nil {
			break // The response has the error.
		}
	}
	return stream.CloseAndRecv()
}
