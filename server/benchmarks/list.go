package benchmarks

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// Numbers of items on a page.
var (
	benchmarksSizes = paging.Sizes{Default: 500, Max: 5000}
	feedsSizes      = paging.Sizes{Default: 100, Max: 1000}
)

// ListBenchmarks implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) ListBenchmarks(_ context.Context, request *workloadresizerv1.ListBenchmarksRequest) (*workloadresizerv1.ListBenchmarksResponse, error) {
	page, err := paging.Of(request, benchmarksSizes)
	if err != nil {
		return nil, err
	}
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	after, err := keyOf(page.After)
	if err != nil {
		return nil, paging.TokenError(err)
	}
	var left []*estimate.Aggregate
	for i := range view.Aggregates {
		a := &view.Aggregates[i]
		if isOf(&a.Key, request) && (after == nil || a.Compare(*after) > 0) {
			left = append(left, a)
		}
	}
	// Tokens rely on this order, whatever the order of the view.
	slices.SortFunc(left, func(a, b *estimate.Aggregate) int { return a.Compare(b.Key) })
	response := &workloadresizerv1.ListBenchmarksResponse{}
	response.Benchmarks, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Benchmark) bool) {
		for _, a := range left {
			if !yield(keyText(&a.Key), benchmarkMessage(a)) {
				return
			}
		}
	})
	return response, nil
}

// ListFeeds implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) ListFeeds(_ context.Context, request *workloadresizerv1.ListFeedsRequest) (*workloadresizerv1.ListFeedsResponse, error) {
	page, err := paging.Of(request, feedsSizes)
	if err != nil {
		return nil, err
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	feeds := s.config.Benchmarks.Feeds()
	slices.SortFunc(feeds, func(a, b fetch.Status) int { return cmp.Compare(a.Feed.Name, b.Feed.Name) })
	response := &workloadresizerv1.ListFeedsResponse{}
	response.Feeds, response.NextPageToken = paging.Fill(page, func(yield func(string, *workloadresizerv1.Feed) bool) {
		for _, f := range feeds {
			if f.Feed.Name > page.After && !yield(f.Feed.Name, feedMessage(&f)) {
				return
			}
		}
	})
	return response, nil
}

// isOf reports whether the request selects a key. Its node type may be one with a CPU model.
func isOf(k *estimate.Key, request *workloadresizerv1.ListBenchmarksRequest) bool {
	nodeType, name := request.GetNodeType(), request.GetBenchmark()
	return (nodeType == "" || nodeType == k.NodeType || nodeType == nodetype.WithModel(k.NodeType, k.CPUModel)) && (name == "" || name == k.Benchmark)
}

// keySeparator occurs in no field of a key, because fields are printable.
const keySeparator = "\x00"

// keyText returns a key as in page tokens.
func keyText(k *estimate.Key) string {
	return strings.Join([]string{k.NodeType, k.CPUModel, k.Benchmark, k.Version, strconv.Itoa(k.VCPUs)}, keySeparator)
}

// keyOf returns the key in a page token, as keyText writes it; nil for an empty string.
func keyOf(text string) (*estimate.Key, error) {
	if text == "" {
		return nil, nil
	}
	fields := strings.Split(text, keySeparator)
	if len(fields) != 5 {
		return nil, paging.ErrToken
	}
	vcpus, err := strconv.Atoi(fields[4])
	if err != nil || strconv.Itoa(vcpus) != fields[4] {
		return nil, paging.ErrToken
	}
	return &estimate.Key{NodeType: fields[0], CPUModel: fields[1], Benchmark: fields[2], Version: fields[3], VCPUs: vcpus}, nil
}
