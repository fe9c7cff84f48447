package server

import (
	"context"
	"time"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/samples"
	"github.com/workload-resizer/workload-resizer/reconciler"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/limits"
)

// Benchmarks are what was measured; a benchmark.Provider is.
type Benchmarks interface {
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
	// Ready says what is not known yet, nil if there is a View; it is cheap.
	Ready() error
	// View returns what is known now; the error is that of Ready.
	View() (*benchmark.View, error)
}

type benchmarkService struct {
	workloadresizerv1.UnimplementedBenchmarkServiceServer
	// benchmarks are nil if the server does not use that source.
	benchmarks Benchmarks
	// ratios have the table, its messages, and what another one would mean.
	ratios     *ratioService
	reconciler *reconciler.Reconciler
	// slots are those of previews: to look at a suggestion changes nothing.
	slots *limits.Slots
	now   func() time.Time
}

// view is what is known now, or the error that nothing is.
func (s *benchmarkService) view() (*benchmark.View, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	view, err := s.benchmarks.View()
	if err != nil {
		return nil, benchmarksNotReady(err)
	}
	return view, nil
}

// ready is the error that nothing is known.
func (s *benchmarkService) ready() error {
	if s.benchmarks == nil {
		return rpcerror.New(rpcerror.BenchmarksDisabled,
			"the server does not use benchmarks: start it with --ratio-sources=override,configmap,benchmark")
	}
	if err := s.benchmarks.Ready(); err != nil {
		return benchmarksNotReady(err)
	}
	return nil
}

func benchmarksNotReady(err error) error {
	return rpcerror.New(rpcerror.BenchmarksNotReady, "not ready: "+err.Error())
}

func (s *benchmarkService) ListFeeds(context.Context, *workloadresizerv1.ListFeedsRequest) (*workloadresizerv1.ListFeedsResponse, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	response := &workloadresizerv1.ListFeedsResponse{}
	for i := range view.Feeds {
		response.Feeds = append(response.Feeds, feedMessage(&view.Feeds[i]))
	}
	return response, nil
}
