package benchmarks

import (
	"context"
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/intake"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/reconciler"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/access"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Measured gives access to measurements. An intake.Intake accepts samples, a
// benchmark.Provider stores them, and a judge.Judge estimates ratios from them.
type Measured interface {
	// Add stores valid samples with node types. It returns the outcome of each sample, even
	// with an error.
	Add(context.Context, []sample.Sample) ([]samples.Outcome, error)
	// Preview returns the outcome that Add would have for each sample, and stores none.
	Preview([]sample.Sample) ([]samples.Outcome, error)
	// Claim returns whether a node should measure itself, and unless it is only a preview, counts
	// the node as measured for a while.
	Claim(c intake.Claim, preview bool) intake.Standing
	// Missing returns which samples and ratios cannot be stored because a ConfigMap does not
	// exist, unless another error states that; nil if there are none.
	Missing() error
	// NodeType returns the node type of an instance type, as in ratios; empty if it cannot be
	// determined.
	NodeType(instanceType string) string
	// Feeds returns the feeds that are read, by name.
	Feeds() []fetch.Status
	// Ready returns what is not known yet, nil if there is a View. It is cheap.
	Ready() error
	// View returns what is known now, or the error of Ready.
	View() (*judge.View, error)
}

// Ratios gives access to the ratios that suggestions are about; a RatioService implements it.
type Ratios interface {
	// Table returns the table in effect, or an error if there is none.
	Table() (*ratios.Table, error)
	// Ratio returns the ratio of a node type in a table, nil if there is none, and the etag
	// to send to change exactly that ratio; empty if ratios cannot be changed.
	Ratio(table *ratios.Table, nodeType string) (r *workloadresizerv1.Ratio, etag string)
	// Impact returns the impact of another table, limited to what the caller can see.
	Impact(ctx context.Context, table *ratios.Table, slots *limits.Slots) (*workloadresizerv1.Impact, error)
}

// Config configures a Service.
type Config struct {
	// Benchmarks is nil if the server does not use that source.
	Benchmarks Measured
	// Production is nil if the server does not use that source.
	Production Production
	Ratios     Ratios
	// Store computes the table that a suggestion would result in.
	Store *ratios.Store
	// Reconciler knows the nodes.
	Reconciler *reconciler.Reconciler
	// Demands knows the workloads; nil if no usage is collected. Viewer determines which of them callers can see.
	Demands *demand.Demands
	Viewer  access.Viewer
	// Slots are shared with previews: looking at a suggestion changes nothing.
	Slots *limits.Slots
	// Receiving limits how many streams of samples arrive at a time.
	Receiving *limits.Receiving
}

// Service returns measurements and suggestions.
type Service struct {
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	config Config
	now    func() time.Time
	names  names
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config, now: time.Now} }

// Register serves the BenchmarkService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterBenchmarkServiceServer(r, s)
}

// view returns what is known now, or an error if nothing is.
func (s *Service) view() (*judge.View, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	view, err := s.config.Benchmarks.View()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.BenchmarksNotReady, err)
	}
	return view, nil
}

// ready returns an error if nothing is known.
func (s *Service) ready() error {
	if s.config.Benchmarks == nil {
		return rpcerror.New(rpcerror.BenchmarksDisabled,
			"the server does not use benchmarks: start it with --ratio-sources=override,configmap,benchmark,production")
	}
	if err := s.config.Benchmarks.Ready(); err != nil {
		return rpcerror.NotReady(rpcerror.BenchmarksNotReady, err)
	}
	return nil
}
