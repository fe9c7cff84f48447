package benchmarks

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/nodetype"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// suggestion returns the suggestion for an estimate, with the ratio in effect.
func (s *suggester) suggestion(e *estimate.Estimate) *workloadresizerv1.Suggestion {
	m := estimateMessage(e)
	m.Mode = benchmarkMode(s.view.Settings.Mode(e.NodeType))
	m.Current, m.RatioEtag = s.ratios.Ratio(s.table, e.NodeType)
	if e.Interval != nil {
		m.Interval = &workloadresizerv1.RatioInterval{Low: e.Interval.Low, High: e.Interval.High, Confidence: s.view.Settings.Estimate.Confidence}
	}
	// The table may have changed after the view was created.
	if baseline, ok := s.table.Lookup(e.Baseline); ok && e.Ratio > 0 {
		m.CpuPerf = values.Known(measured.Significant(e.Ratio * baseline.Ratio.CPUPerf))
	}
	m.Progress, m.Production = s.progress(e), s.production(e)
	if m.CpuPerf != nil || m.GetProduction().GetCpuPerf() > 0 {
		m.MemoryPerf = values.Known(s.memoryPerf(e))
	}
	return m
}

// memoryPerf returns the memory performance in effect for the machines: of the node type; if it
// has none, of the node type without its CPU model; and if that has none, of the baseline.
func (s *suggester) memoryPerf(e *estimate.Estimate) float64 {
	family, _ := nodetype.SplitModel(e.NodeType)
	for _, nodeType := range [...]string{e.NodeType, family, e.Baseline} {
		if entry, ok := s.table.Lookup(nodeType); ok {
			return entry.Ratio.MemoryPerf
		}
	}
	return 0
}

// progress returns how the benchmark source follows the node type, nil if it does not.
func (s *suggester) progress(e *estimate.Estimate) *workloadresizerv1.SuggestionProgress {
	p, ok := s.view.Progress[e.NodeType]
	if !ok {
		return nil
	}
	return progressMessage(&p, s.view.Settings.Pace.Windows)
}
