package benchmarks

import (
	"context"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
	"github.com/workload-resizer/workload-resizer/ratios/production"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
	"github.com/workload-resizer/workload-resizer/reconciler/demand"
	"github.com/workload-resizer/workload-resizer/server/values"
)

// mostSingles is how many workloads of a node type are returned that differ from the others.
const mostSingles = 10

// compared finds the workloads that differ on some of the node types, as far as the caller can see them.
func (s *Service) compared(ctx context.Context, shown *production.View, nodeTypes func(string) bool) (map[evidence.Key]*demand.Compared, error) {
	if s.config.Demands == nil || shown == nil {
		return nil, nil
	}
	var keys []evidence.Key
	for i := range shown.Suggestions {
		if of := &shown.Suggestions[i]; nodeTypes(of.NodeType) {
			for _, single := range of.Unlike {
				keys = append(keys, single.Key)
			}
		}
	}
	return s.config.Demands.Compared(keys, s.config.Viewer.View(ctx).Visible)
}

// singles returns the workloads that differ on the node type of an estimate.
func (s *suggester) singles(e *estimate.Estimate, of *production.Suggestion) (all []*workloadresizerv1.WorkloadRatio) {
	for _, single := range of.Unlike {
		if is := s.compared[single.Key]; is != nil && len(all) < mostSingles {
			all = append(all, s.single(e, is, single.Interval))
		}
	}
	return all
}

// single returns the ratio of one workload, in the unit of the ratios that apply to its pods: the first rule that matches them may have another
// one.
func (s *suggester) single(e *estimate.Estimate, is *demand.Compared, of production.Interval) *workloadresizerv1.WorkloadRatio {
	m := &workloadresizerv1.WorkloadRatio{
		Namespace: is.Namespace, Workload: &workloadresizerv1.Workload{Kind: is.Kind, Name: is.Name},
		Ratio: of.Ratio, Interval: interval(of, s.shown.Confidence), WholeNamespace: is.Alone,
	}
	if is.Key != "" {
		m.PodLabels = map[string]string{is.Key: is.Value}
	}
	by := s.table.Profile(is.Pod)
	if by.Rule() != nil {
		m.Rule = by.Rule().Name
	}
	now, known := by.Lookup(e.NodeType)
	if known {
		m.CurrentCpuPerf = values.Known(now.Ratio.CPUPerf)
	}
	if baseline, ok := by.Lookup(e.Baseline); ok {
		m.CpuPerf, m.MemoryPerf = values.Known(measured.Significant(of.Ratio*baseline.Ratio.CPUPerf)), values.Known(baseline.Ratio.MemoryPerf)
		if known {
			m.MemoryPerf = values.Known(now.Ratio.MemoryPerf)
		}
	}
	return m
}
