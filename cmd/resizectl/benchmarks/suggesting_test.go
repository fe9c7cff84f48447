package benchmarks

import (
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

// suggester is a server that has read feeds, received samples from agents, and has suggestions, which can
// be accepted.
type suggester struct {
	*cmdtest.Fake
	// unchanged makes writes change nothing.
	unchanged bool
	// refused fails writes, but not dry runs.
	refused error
	// unconfirmed fails writes that do not allow implausible ratios.
	unconfirmed error
}

func suggesting() *suggester {
	s := &suggester{}
	table := cmdtest.Overridden()
	s.Fake = cmdtest.Answering(
		cmdtest.Table(table),
		cmdtest.Pages(2, &workloadresizerv1.ListBenchmarksResponse{Benchmarks: measurements(cmdtest.Since)}),
		cmdtest.Returns(&workloadresizerv1.ListFeedsResponse{Feeds: feeds()}),
		cmdtest.Returns(&workloadresizerv1.ListSuggestionsResponse{Suggestions: suggestions(), BaselineNodeType: "n2d"}),
		cmdtest.On(func(req *workloadresizerv1.GetSuggestionRequest) (*workloadresizerv1.GetSuggestionResponse, error) {
			for _, suggestion := range suggestions() {
				if suggestion.GetNodeType() == req.GetNodeType() {
					resp := &workloadresizerv1.GetSuggestionResponse{Suggestion: suggestion}
					if suggestion.Ratio != nil {
						resp.Impact = cmdtest.Impact()
					}
					return resp, nil
				}
			}
			return nil, status.Errorf(codes.NotFound, "no benchmark covers %q", req.GetNodeType())
		}),
		cmdtest.On(func(req *workloadresizerv1.UpdateOverrideRequest) (*workloadresizerv1.UpdateOverrideResponse, error) {
			switch {
			case s.unconfirmed != nil && !req.GetAllowImplausible():
				return nil, s.unconfirmed
			case s.refused != nil && !req.GetValidateOnly():
				return nil, s.refused
			}
			to := req.GetOverride()
			ratio := &workloadresizerv1.Ratio{
				NodeType: to.GetNodeType(), CpuPerf: to.GetCpuPerf(), CpuFactor: 1 / to.GetCpuPerf(), MemoryPerf: to.GetMemoryPerf(), MemoryFactor: 1 / to.GetMemoryPerf(),
				ExpireTime: to.GetExpireTime(), Provenance: &workloadresizerv1.Provenance{Source: "override", Author: "ann", UpdateTime: timestamppb.New(cmdtest.Since)}, Etag: "after",
			}
			if to.GetNodeType() == "n4" && !slices.Contains(req.GetUpdateMask().GetPaths(), "expire_time") {
				ratio.ExpireTime = table.GetRatios()[2].GetExpireTime() // The override of n4 stays temporary.
			}
			resp := &workloadresizerv1.UpdateOverrideResponse{
				Override: &workloadresizerv1.Override{
					NodeType: to.GetNodeType(), CpuPerf: to.CpuPerf, MemoryPerf: to.MemoryPerf, ExpireTime: ratio.GetExpireTime(),
					Author: "ann", UpdateTime: timestamppb.New(cmdtest.Since), Etag: "override-after",
				},
				Ratio: ratio,
			}
			if req.GetValidateOnly() {
				resp.Impact = cmdtest.Impact()
			}
			if !s.unchanged {
				resp.Change = &workloadresizerv1.OverrideChange{CreateTime: timestamppb.New(cmdtest.Since), Author: "ann", Reason: req.GetReason(), Deltas: []*workloadresizerv1.OverrideDelta{{
					NodeType: to.GetNodeType(), To: &workloadresizerv1.OverrideValue{CpuPerf: to.GetCpuPerf(), MemoryPerf: to.GetMemoryPerf(), ExpireTime: ratio.GetExpireTime()},
				}}}
				if !req.GetValidateOnly() {
					resp.Change.Number = new(int64(5))
				}
			}
			return resp, nil
		}),
	)
	return s
}

// measurements returns benchmarks with newest as the time of the last measurement.
func measurements(newest time.Time) []*workloadresizerv1.Benchmark {
	oldest, last := timestamppb.New(newest.Add(-48*time.Hour)), timestamppb.New(newest)
	return []*workloadresizerv1.Benchmark{
		{NodeType: "e2", CpuModel: "Intel-6-79", Benchmark: "coremark", Samples: 1, Machines: 1, Median: 138.5, OldestTime: last, NewestTime: last},
		{NodeType: "n2d", Benchmark: "coremark", Samples: 120, Machines: 1, Median: 20482, Spread: 0.004, OldestTime: oldest, NewestTime: last},
		{NodeType: "n4", CpuModel: "Intel-6-207", Benchmark: "bench-node:memory-bandwidth", Version: "1-go1.26.7", Unit: "MB/s", Samples: 6, Outliers: 1, Machines: 3,
			Median: 4812.125, Spread: 0.0123, SingleThreadMedian: new(8749.3), OldestTime: oldest, NewestTime: last, SpotChecks: 12, SpotMedian: new(8700.0)},
	}
}

func feeds() []*workloadresizerv1.Feed {
	return []*workloadresizerv1.Feed{
		{Name: "coremark-table", Format: "cloud-csv", Location: "https://example.com/coremark.csv", Rows: 400, Samples: 396, Bad: 4,
			LastTryTime: timestamppb.New(cmdtest.Since), LastSuccessTime: timestamppb.New(cmdtest.Since), Faults: []*workloadresizerv1.FeedFault{
				{Line: 17, Field: "Avg Score", Message: "must be a number above 0, not \x1b[31m-1"},
				{Line: 18, Message: "has 3 columns, 9 are needed"},
			}},
		{Name: "lab", Format: "samples", Location: "ConfigMap bench-results, key samples.jsonl"},
		{Name: "nightly", Format: "perfkit", Location: "/feeds/nightly.json", Rows: 30, Samples: 12, Skipped: 18,
			LastTryTime: timestamppb.New(cmdtest.Since.Add(time.Hour)), LastSuccessTime: timestamppb.New(cmdtest.Since), Message: "open /feeds/nightly.json: no such file or directory"},
		{Name: "passmark-scores", Format: "sparecores", Location: "https://example.com/scores.json", Rows: 9, Samples: 9,
			LastTryTime: timestamppb.New(cmdtest.Since), LastSuccessTime: timestamppb.New(cmdtest.Since)},
	}
}

// suggestions returns one suggestion of each kind: one that is followed, one that is held
// back, one for a node type that no source names, and one without a ratio.
func suggestions() []*workloadresizerv1.Suggestion {
	part := func(name string, ratio, weight float64) *workloadresizerv1.SuggestionPart {
		return &workloadresizerv1.SuggestionPart{Benchmark: name, Ratio: ratio, Weight: weight, Samples: 6, Machines: 3, BaselineSamples: 9, BaselineMachines: 4}
	}
	memory := part("bench-node:memory-bandwidth", 1.31, 0)
	memory.Version = "1-go1.26.7"
	current := func(nodeType string) *workloadresizerv1.Ratio {
		for _, ratio := range cmdtest.Overridden().GetRatios() {
			if ratio.GetNodeType() == nodeType {
				return ratio
			}
		}
		return nil
	}
	suggestion := func(nodeType string, ratio float64) *workloadresizerv1.Suggestion {
		return &workloadresizerv1.Suggestion{
			NodeType: nodeType, BaselineNodeType: "n2d", Ratio: &ratio, Interval: &workloadresizerv1.RatioInterval{Low: 0.97 * ratio, High: 1.02 * ratio, Confidence: 0.95},
			CpuPerf: &ratio, MemoryPerf: new(1.0), Current: current(nodeType), RatioEtag: "of-" + nodeType, Samples: 12, Machines: 3,
			OldestTime: timestamppb.New(cmdtest.Since.Add(-72 * time.Hour)), NewestTime: timestamppb.New(cmdtest.Since), Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE,
			Parts: []*workloadresizerv1.SuggestionPart{memory, part("coremark", ratio, 1), part("sysbench", ratio, 2)},
		}
	}
	n4 := suggestion("n4", 1.1234567)
	n4.Ends = &workloadresizerv1.SuggestionEnds{OneThread: 1.05, AllThreads: 1.21}
	n4.Mode = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY
	n4.Models = []*workloadresizerv1.SuggestionModel{{Ratio: new(1.1), Machines: 1}, {CpuModel: "Intel-6-207", Ratio: new(1.13), Machines: 2}}
	n4.Progress = &workloadresizerv1.SuggestionProgress{
		Ratio: new(1.08), Target: 1.1234567, ConfirmedWindows: 1, NeededWindows: 2,
		ChangeTime: timestamppb.New(cmdtest.Since.Add(-24 * time.Hour)), NextTime: timestamppb.New(cmdtest.Since.Add(time.Hour)),
	}
	c3 := &workloadresizerv1.Suggestion{
		NodeType: "c3", BaselineNodeType: "n2d", Current: current("c3"), RatioEtag: "none-c3", Samples: 1, Machines: 1,
		OldestTime: timestamppb.New(cmdtest.Since), NewestTime: timestamppb.New(cmdtest.Since), Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE,
		Holds: []*workloadresizerv1.SuggestionHold{{Code: "TooFewBenchmarks", Message: "no benchmark was run on both, 2 are needed"}},
	}
	n4.Production = &workloadresizerv1.ProductionSuggestion{
		Ratio: new(1.25), CpuPerf: new(1.25), Interval: &workloadresizerv1.RatioInterval{Low: 1.23, High: 1.27, Confidence: 0.95},
		NextInterval: &workloadresizerv1.RatioInterval{Low: 1.15, High: 1.36, Confidence: 0.95}, Workloads: 42, Nodes: 12, Hours: 3100,
		HeldWorkloads: map[string]int64{"Pulls": 2, "TooFewHours": 5}, Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE, EvaluationTime: timestamppb.New(cmdtest.Since),
		Contradictions: []*workloadresizerv1.RatioContradiction{{Source: "override", Ratio: 1.08}, {Source: "benchmark\x1b[31m", Ratio: 1.1234567}},
	}
	c3.Production = &workloadresizerv1.ProductionSuggestion{
		Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY, EvaluationTime: timestamppb.New(cmdtest.Since),
		Holds: []*workloadresizerv1.SuggestionHold{{Code: "NotCompared", Message: "no workload has had two replicas on c3 and two on n2d: run some workloads on both"}},
	}
	e2 := suggestion("e2", 0.8)
	e2.Holds = []*workloadresizerv1.SuggestionHold{
		{Code: "ModelsDiffer", Message: "Intel-6-79 has 0.4,\x1b[31m AMD-23-49 has 1.1"},
		{Code: "TooFewMachines", Message: "1 machine of e2, 2 are needed"},
		{Code: "TooFewMachines", Message: "1 machine of baseline n2d, 2 are needed"},
	}
	e2.Production = &workloadresizerv1.ProductionSuggestion{
		Ratio: new(0.82), CpuPerf: new(0.82), Interval: &workloadresizerv1.RatioInterval{Low: 0.81, High: 0.83, Confidence: 0.95}, Workloads: 1, Nodes: 3, Hours: 100,
		Mode:     workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY,
		Progress: &workloadresizerv1.SuggestionProgress{Ratio: new(0.9), Target: 0.82, NeededWindows: 2},
	}
	return []*workloadresizerv1.Suggestion{c3, e2, n4, suggestion("n4@Intel-6-207", 1.13)}
}
