package benchmarks

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/fetch"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/server/values"
)

func benchmarkMessage(a *estimate.Aggregate) *workloadresizerv1.Benchmark {
	return &workloadresizerv1.Benchmark{
		NodeType: a.NodeType, CpuModel: a.CPUModel, Benchmark: a.Benchmark, Version: a.Version, Unit: a.Unit,
		Samples: int64(a.Samples), Outliers: int64(a.Outliers), Machines: int64(a.Machines),
		Median: a.Median, Spread: a.Spread, SingleThreadMedian: values.Known(a.SingleThread),
		OldestTime: values.Timestamp(a.Oldest), NewestTime: values.Timestamp(a.Newest),
		SpotChecks: int64(a.SpotChecks), SpotMedian: values.Known(a.SpotMedian), Vcpus: int32(a.VCPUs),
	}
}

func feedMessage(s *fetch.Status) *workloadresizerv1.Feed {
	r := &s.Result
	m := &workloadresizerv1.Feed{
		Name: s.Feed.Name, Format: string(s.Feed.Format), Location: s.Feed.Location(),
		LastTryTime: values.Timestamp(s.LastTry), LastSuccessTime: values.Timestamp(s.LastSuccess),
		Rows: int64(r.Rows), Samples: int64(r.Rows - r.Skipped - r.Bad), Skipped: int64(r.Skipped), Bad: int64(r.Bad),
	}
	if s.Err != nil {
		m.Message = s.Err.Error()
	}
	for _, f := range r.Faults {
		m.Faults = append(m.Faults, &workloadresizerv1.FeedFault{Line: int64(f.Line), Field: f.Field, Message: f.Reason})
	}
	for reason, rows := range r.Reasons {
		if m.Reasons == nil {
			m.Reasons = map[string]int64{}
		}
		m.Reasons[string(reason)] = int64(rows)
	}
	return m
}

// estimateMessage returns the fields of a suggestion that come from benchmarks.
func estimateMessage(e *estimate.Estimate) *workloadresizerv1.Suggestion {
	m := &workloadresizerv1.Suggestion{
		NodeType: e.NodeType, BaselineNodeType: e.Baseline,
		Ratio:   values.Known(e.Ratio),
		Samples: int64(e.Samples), Machines: int64(e.Machines),
		OldestTime: values.Timestamp(e.Oldest), NewestTime: values.Timestamp(e.Newest),
	}
	if e.Ends != nil {
		m.Ends = &workloadresizerv1.SuggestionEnds{OneThread: e.Ends.OneThread, AllThreads: e.Ends.AllThreads}
	}
	for _, h := range e.Doubts {
		m.Holds = append(m.Holds, &workloadresizerv1.SuggestionHold{Code: string(h.Code), Message: h.Message})
	}
	for _, p := range e.Parts {
		m.Parts = append(m.Parts, &workloadresizerv1.SuggestionPart{
			Benchmark: p.Benchmark, Version: p.Version, Ratio: p.Ratio, Weight: p.Weight,
			Samples: int64(p.Samples), Machines: int64(p.Machines),
			BaselineSamples: int64(p.BaselineSamples), BaselineMachines: int64(p.BaselineMachines),
		})
	}
	for _, model := range e.Models {
		m.Models = append(m.Models, &workloadresizerv1.SuggestionModel{CpuModel: model.CPUModel, Ratio: values.Known(model.Ratio), Machines: int64(model.Machines)})
	}
	return m
}

func benchmarkMode(m settings.Mode) workloadresizerv1.BenchmarkMode {
	if m == settings.Apply {
		return workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY
	}
	return workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE
}
