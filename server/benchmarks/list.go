package benchmarks

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
	"github.com/workload-resizer/workload-resizer/server/paging"
)

// defaultBenchmarks is the page size if the request does not set one.
const defaultBenchmarks = 500

// ListBenchmarks implements workloadresizerv1.BenchmarkServiceServer.
func (s *Service) ListBenchmarks(_ context.Context, request *workloadresizerv1.ListBenchmarksRequest) (*workloadresizerv1.ListBenchmarksResponse, error) {
	view, err := s.view()
	if err != nil {
		return nil, err
	}
	size := cmp.Or(int(request.GetPageSize()), defaultBenchmarks)
	var after *estimate.Key
	if token := request.GetPageToken(); token != "" {
		if after, err = parseBenchmarksToken(token); err != nil {
			return nil, rpcerror.BadField("page_token", "is invalid: "+err.Error())
		}
	}
	var page []*estimate.Aggregate
	for i := range view.Aggregates {
		a := &view.Aggregates[i]
		if isOf(&a.Key, request) && (after == nil || compareKeys(&a.Key, after) > 0) {
			page = append(page, a)
		}
	}
	// Tokens rely on this order, whatever the order of the view.
	slices.SortFunc(page, func(a, b *estimate.Aggregate) int { return compareKeys(&a.Key, &b.Key) })
	response := &workloadresizerv1.ListBenchmarksResponse{}
	if len(page) > size {
		page = page[:size]
		response.NextPageToken = benchmarksToken(&page[size-1].Key)
	}
	for _, a := range page {
		response.Benchmarks = append(response.Benchmarks, benchmarkMessage(a))
	}
	return response, nil
}

// isOf reports whether the request selects a key. Its node type may be one with a CPU model.
func isOf(k *estimate.Key, request *workloadresizerv1.ListBenchmarksRequest) bool {
	nodeType, name := request.GetNodeType(), request.GetBenchmark()
	return (nodeType == "" || nodeType == k.NodeType || nodeType == nodetype.WithModel(k.NodeType, k.CPUModel)) && (name == "" || name == k.Benchmark)
}

func compareKeys(a, b *estimate.Key) int {
	return cmp.Or(cmp.Compare(a.NodeType, b.NodeType), cmp.Compare(a.CPUModel, b.CPUModel), cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.Version, b.Version), cmp.Compare(a.VCPUs, b.VCPUs))
}

// keySeparator occurs in no field of a key, because fields are printable.
const keySeparator = "\x00"

// benchmarksToken returns the page token that continues after a key.
func benchmarksToken(last *estimate.Key) string {
	fields := []string{last.NodeType, last.CPUModel, last.Benchmark, last.Version, strconv.Itoa(last.VCPUs)}
	return paging.Token(strings.Join(fields, keySeparator))
}

func parseBenchmarksToken(token string) (*estimate.Key, error) {
	last, err := paging.Last(token)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(last, keySeparator)
	if len(fields) != 5 {
		return nil, paging.ErrToken
	}
	vcpus, err := strconv.Atoi(fields[4])
	if err != nil {
		return nil, paging.ErrToken
	}
	return &estimate.Key{NodeType: fields[0], CPUModel: fields[1], Benchmark: fields[2], Version: fields[3], VCPUs: vcpus}, nil
}
