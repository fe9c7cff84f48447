package benchmarks

import (
	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// Production gives access to what production shows of node types; a production.Judge implements it.
type Production interface {
	// View returns what is known now.
	View() *production.View
}

// production returns what production shows of the node type of an estimate, nil if nothing is known.
func (s *suggester) production(e *estimate.Estimate) *workloadresizerv1.ProductionSuggestion {
	if s.shown == nil || s.shown.Baseline != e.Baseline && s.shown.Without == nil {
		return nil
	}
	of, ok := s.shown.Suggestion(e.NodeType)
	progress, follows := s.shown.Progress[e.NodeType]
	if !ok && !follows && s.shown.Without == nil {
		return nil
	}
	m := &workloadresizerv1.ProductionSuggestion{
		Mode: workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_OBSERVE, StartTime: values.Timestamp(s.shown.Since), EvaluationTime: values.Timestamp(s.shown.Until),
	}
	if s.shown.Applies {
		m.Mode = workloadresizerv1.BenchmarkMode_BENCHMARK_MODE_APPLY
	}
	if follows {
		m.Progress = progressMessage(&progress, s.shown.Windows)
	}
	if !ok {
		if why := s.shown.Without; why != nil {
			m.Holds = append(m.Holds, &workloadresizerv1.SuggestionHold{Code: why.Code, Message: why.Detail})
		}
		return m
	}
	m.Workloads, m.Nodes, m.Hours = int64(of.Workloads), int64(of.Nodes), int64(of.Hours)
	if of.Known() {
		m.Ratio, m.Interval, m.NextInterval = values.Known(of.Cluster.Ratio), interval(of.Cluster, s.shown.Confidence), interval(of.Next, s.shown.Confidence)
	}
	m.WorkloadRatios = s.singles(e, of)
	for reason, n := range of.Held {
		if m.HeldWorkloads == nil {
			m.HeldWorkloads = make(map[string]int64, len(of.Held))
		}
		m.HeldWorkloads[reason] = int64(n)
	}
	for _, d := range of.Doubts {
		m.Holds = append(m.Holds, &workloadresizerv1.SuggestionHold{Code: d.Code, Message: d.Detail})
	}
	if baseline, ok := s.table.Lookup(e.Baseline); ok && of.Known() {
		m.CpuPerf = values.Known(measured.Significant(of.Cluster.Ratio * baseline.Ratio.CPUPerf))
	}
	for _, c := range s.contradictions {
		if c.NodeType == e.NodeType {
			m.Contradictions = append(m.Contradictions, &workloadresizerv1.RatioContradiction{Source: c.Source, Ratio: c.Ratio})
		}
	}
	return m
}

func interval(i production.Interval, confidence float64) *workloadresizerv1.RatioInterval {
	return &workloadresizerv1.RatioInterval{Low: i.Low, High: i.High, Confidence: confidence}
}

// progressMessage returns how a source follows a suggestion.
func progressMessage(p *measured.Progress, windows int) *workloadresizerv1.SuggestionProgress {
	return &workloadresizerv1.SuggestionProgress{
		Ratio: values.Known(p.Ratio), Target: p.Target,
		ConfirmedWindows: int32(p.Confirmed), NeededWindows: int32(windows),
		ChangeTime: values.Timestamp(p.Changed), NextTime: values.Timestamp(p.Next),
	}
}
