package benchmarks

import (
	"context"
	"time"

	"google.golang.org/grpc"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/reconciler"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Measured is what was measured. An intake.Intake takes it in, a benchmark.Provider
// keeps it, and a judge.Judge tells what it comes to.
type Measured interface {
	// Add keeps valid samples with node types, and returns what became of each,
	// also where there is an error.
	Add(context.Context, []sample.Sample) ([]samples.Outcome, error)
	// Preview returns what would become of samples, and keeps none.
	Preview([]sample.Sample) ([]samples.Outcome, error)
	// Missing says which samples and ratios cannot be stored, for there is no
	// ConfigMap, where nothing else tells that; nil if none.
	Missing() error
	// NodeType returns what the machines of an instance type are called by in
	// ratios; empty if that cannot be told.
	NodeType(instanceType string) string
	// Feeds are those that are read, by name.
	Feeds() []fetch.Status
	// Ready says what is not known yet, nil if there is a View; it is cheap.
	Ready() error
	// View returns what is known now; the error is that of Ready.
	View() (*judge.View, error)
}

// Ratios are what suggestions are about; a RatioService tells of them.
type Ratios interface {
	// Table returns the one in force, or the error that there is none.
	Table() (*ratios.Table, error)
	// Ratio returns that of a node type in a table, nil if there is none, and what has
	// to be given to change that just as it is; empty where nothing can be set.
	Ratio(table *ratios.Table, nodeType string) (r *workloadresizerv1.Ratio, etag string)
	// Impact is what another table would mean, as far as the caller sees it.
	Impact(ctx context.Context, table *ratios.Table, slots *limits.Slots) (*workloadresizerv1.Impact, error)
}

// Config is what a Service is made of.
type Config struct {
	// Benchmarks are nil if the server does not use that source.
	Benchmarks Measured
	Ratios     Ratios
	// Store makes the table that there would be.
	Store *ratios.Store
	// Reconciler knows the nodes.
	Reconciler *reconciler.Reconciler
	// Slots are those of previews: to look at a suggestion changes nothing.
	Slots *limits.Slots
}

// Service tells what was measured, and what it comes to.
type Service struct {
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	config Config
	now    func() time.Time
}

// New returns a Service.
func New(config Config) *Service { return &Service{config: config, now: time.Now} }

// Register serves the BenchmarkService.
func (s *Service) Register(r grpc.ServiceRegistrar) {
	workloadresizerv1.RegisterBenchmarkServiceServer(r, s)
}

// view is what is known now, or the error that nothing is.
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

// ready is the error that nothing is known.
func (s *Service) ready() error {
	if s.config.Benchmarks == nil {
		return rpcerror.New(rpcerror.BenchmarksDisabled,
			"the server does not use benchmarks: start it with --ratio-sources=override,configmap,benchmark")
	}
	if err := s.config.Benchmarks.Ready(); err != nil {
		return rpcerror.NotReady(rpcerror.BenchmarksNotReady, err)
	}
	return nil
}

// ListFeeds implements the BenchmarkService.
func (s *Service) ListFeeds(context.Context, *workloadresizerv1.ListFeedsRequest) (*workloadresizerv1.ListFeedsResponse, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListFeedsResponse{}
	for _, f := range s.config.Benchmarks.Feeds() {
		response.Feeds = append(response.Feeds, feedMessage(&f))
	}
	return response, nil
}
