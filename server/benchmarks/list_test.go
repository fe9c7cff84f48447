package benchmarks

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/feed"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/server/servertest"
	"github.com/workload-resizer/workload-resizer/test/footprint"
)

func TestListBenchmarks(t *testing.T) {
	var all []estimate.Aggregate
	var everything []string
	for _, nodeType := range []string{"c3", "n4"} {
		for _, model := range []string{"", "Intel-6-143"} {
			for _, run := range []string{"coremark", "passmark:cpu_mark"} {
				for _, version := range []string{"1.0", "1.0 b"} {
					key := estimate.Key{NodeType: nodeType, CPUModel: model, Benchmark: run, Version: version}
					everything = append(everything, fmt.Sprint(key))
					// In another order than the pages.
					all = append([]estimate.Aggregate{{Key: key}}, all...)
				}
			}
		}
	}
	client := measuring(t, &servertest.Measured{Known: &judge.View{Aggregates: all}}, nil)
	list := func(request *workloadresizerv1.ListBenchmarksRequest) (pages []int, keys []string) {
		t.Helper()
		for {
			response, err := client.ListBenchmarks(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range response.GetBenchmarks() {
				keys = append(keys, fmt.Sprint(estimate.Key{NodeType: b.GetNodeType(), CPUModel: b.GetCpuModel(), Benchmark: b.GetBenchmark(), Version: b.GetVersion()}))
			}
			pages = append(pages, len(response.GetBenchmarks()))
			if request.PageToken = response.GetNextPageToken(); request.PageToken == "" {
				return pages, keys
			}
		}
	}
	for _, tc := range []struct {
		name    string
		request *workloadresizerv1.ListBenchmarksRequest
		pages   []int
		keys    []string
	}{
		{"all", &workloadresizerv1.ListBenchmarksRequest{}, []int{16}, everything},
		{"in pages", &workloadresizerv1.ListBenchmarksRequest{PageSize: 5}, []int{5, 5, 5, 1}, everything},
		{"the last page may be full", &workloadresizerv1.ListBenchmarksRequest{PageSize: 8}, []int{8, 8}, everything},
		{"of a node type, in pages", &workloadresizerv1.ListBenchmarksRequest{NodeType: "n4", PageSize: 6}, []int{6, 2}, everything[8:]},
		{"of a CPU model", &workloadresizerv1.ListBenchmarksRequest{NodeType: "n4@Intel-6-143"}, []int{4}, everything[12:]},
		{"of a benchmark", &workloadresizerv1.ListBenchmarksRequest{NodeType: "n4@Intel-6-143", Benchmark: "coremark"}, []int{2}, everything[12:14]},
		{"of an unknown node type", &workloadresizerv1.ListBenchmarksRequest{NodeType: "n"}, []int{0}, nil},
	} {
		pages, keys := list(tc.request)
		if diff := cmp.Diff(tc.pages, pages) + cmp.Diff(tc.keys, keys); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
	first, err := client.ListBenchmarks(t.Context(), &workloadresizerv1.ListBenchmarksRequest{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, request := range map[string]*workloadresizerv1.ListBenchmarksRequest{
		"no token":               {PageToken: "x"},
		"a changed token":        {PageToken: first.GetNextPageToken() + "AAAA"},
		"of a different request": {PageToken: first.GetNextPageToken(), NodeType: "n4"},
	} {
		_, err := client.ListBenchmarks(t.Context(), request)
		t.Log(name)
		servertest.CheckError(t, err, codes.InvalidArgument, "INVALID_ARGUMENT", "page_token is invalid: not a page token of this list, or one of a different request")
	}
}

func TestList(t *testing.T) {
	t.Run("accepts a page token of the longest key", acceptsAPageTokenOfTheLongestKey)
	t.Run("returns all fields of a benchmark", returnsAllFieldsOfABenchmark)
}

func acceptsAPageTokenOfTheLongestKey(t *testing.T) {
	long := func(n int) string { return strings.Repeat("<", n) }
	key := estimate.Key{NodeType: long(63), CPUModel: long(63), Benchmark: long(128), Version: long(64)}
	client := measuring(t, &servertest.Measured{Known: &judge.View{Aggregates: []estimate.Aggregate{{Key: key}, {Key: estimate.Key{NodeType: "n4"}}}}}, nil)
	request := &workloadresizerv1.ListBenchmarksRequest{PageSize: 1}
	for _, want := range []string{key.NodeType, "n4"} {
		page, err := client.ListBenchmarks(t.Context(), request)
		if err != nil || len(page.GetBenchmarks()) != 1 || page.GetBenchmarks()[0].GetNodeType() != want {
			t.Fatalf("%v, %v", page, err)
		}
		request.PageToken = page.GetNextPageToken()
	}
}

func FuzzKeyOf(f *testing.F) {
	f.Add(keyText(&estimate.Key{NodeType: "n4", CPUModel: "Intel-6-207", Benchmark: "coremark", Version: "1"}))
	f.Add("")
	f.Add("n4\x00")
	f.Add("\x00\x00\x00\x0000")
	f.Fuzz(func(t *testing.T, text string) {
		var key *estimate.Key
		var err error
		footprint.CheckAllocated(t, len(text), func() { key, err = keyOf(text) })
		if err == nil && key != nil && keyText(key) != text {
			t.Errorf("%q is %v, which has the text %q", text, key, keyText(key))
		}
	})
}

func returnsAllFieldsOfABenchmark(t *testing.T) {
	got := benchmarkMessage(&estimate.Aggregate{
		Key: estimate.Key{NodeType: "n4", CPUModel: "Intel-6-207", Benchmark: "coremark", Version: "1"}, Unit: "iterations/s",
		Samples: 9, Outliers: 1, Machines: 4, Median: 22207, Spread: 0.01, SingleThread: 39000, SpotChecks: 3, SpotMedian: 38000,
		Oldest: servertest.Written, Newest: servertest.Written.Add(time.Hour),
	})
	want := &workloadresizerv1.Benchmark{
		NodeType: "n4", CpuModel: "Intel-6-207", Benchmark: "coremark", Version: "1", Unit: "iterations/s",
		Samples: 9, Outliers: 1, Machines: 4, Median: 22207, Spread: 0.01, SingleThreadMedian: new(39000.0), SpotChecks: 3, SpotMedian: new(38000.0),
		OldestTime: timestamppb.New(servertest.Written), NewestTime: timestamppb.New(servertest.Written.Add(time.Hour)),
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestListFeeds(t *testing.T) {
	table := fetch.Feed{Name: "table", Format: feed.CloudCSV, Place: fetch.Place{File: "/feeds/table.csv"}}
	feeds := []fetch.Status{
		{Feed: table, LastTry: servertest.Written.Add(time.Hour), LastSuccess: servertest.Written, Err: errors.New("no such file"), Result: feed.Result{
			Rows: 10, Skipped: 2, Bad: 1, Faults: []feed.Fault{{Line: 7, Field: "Avg Score", Reason: "must be a number"}},
		}},
		{Feed: fetch.Feed{Name: "young", Format: feed.PerfKit}},
	}
	client := measuring(t, &servertest.Measured{Read: feeds}, nil)
	got, err := client.ListFeeds(t.Context(), &workloadresizerv1.ListFeedsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want := &workloadresizerv1.ListFeedsResponse{Feeds: []*workloadresizerv1.Feed{
		{
			Name: "table", Format: "cloud-csv", Location: table.Location(), LastTryTime: timestamppb.New(servertest.Written.Add(time.Hour)), LastSuccessTime: timestamppb.New(servertest.Written), Message: "no such file",
			Rows: 10, Samples: 7, Skipped: 2, Bad: 1, Faults: []*workloadresizerv1.FeedFault{{Line: 7, Field: "Avg Score", Message: "must be a number"}},
		},
		{Name: "young", Format: "perfkit", Location: feeds[1].Feed.Location()},
	}}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestUnknownMedians(t *testing.T) {
	got := benchmarkMessage(&estimate.Aggregate{Key: estimate.Key{NodeType: "n4"}, Median: 22207})
	if got.SingleThreadMedian != nil || got.SpotMedian != nil {
		t.Errorf("medians of nothing: %v", got)
	}
}

func TestListFeedsInPages(t *testing.T) {
	var feeds []fetch.Status
	for _, name := range []string{"c", "a", "b"} {
		feeds = append(feeds, fetch.Status{Feed: fetch.Feed{Name: name, Format: feed.PerfKit}})
	}
	client := measuring(t, &servertest.Measured{Read: feeds}, nil)
	for size, want := range map[int32]string{0: "abc ", 2: "ab c ", 3: "abc ", 1 << 30: "abc "} {
		got := ""
		for request, n := (&workloadresizerv1.ListFeedsRequest{PageSize: size}), 0; n == 0 || request.PageToken != ""; n++ {
			page, err := client.ListFeeds(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range page.GetFeeds() {
				got += f.GetName()
			}
			got += " "
			request.PageToken = page.GetNextPageToken()
		}
		if got != want {
			t.Errorf("page_size %d: %q", size, got)
		}
	}
}

func TestModes(t *testing.T) {
	for mode, want := range map[settings.Mode]workloadresizerv1.BenchmarkMode{
		settings.Observe: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE, settings.Apply: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
	} {
		if got := benchmarkMode(mode); got != want {
			t.Errorf("%s is %v", mode, got)
		}
	}
}
