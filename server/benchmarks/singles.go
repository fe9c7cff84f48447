package benchmarks

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

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

// namesFor is how long the names of workloads are used again: to find them takes a walk over all pods, which all callers share.
const namesFor = time.Minute

// names are the workloads that differ, for all callers.
type names struct {
	mu   sync.Mutex
	at   time.Time
	keys []evidence.Key
	all  map[evidence.Key]*demand.Compared
}

// of returns the workloads with some keys. One caller finds them, and the others wait.
func (n *names) of(keys []evidence.Key, demands *demand.Demands, now time.Time) (map[evidence.Key]*demand.Compared, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.at) < namesFor && slices.Equal(n.keys, keys) {
		return maps.Clone(n.all), nil
	}
	all, err := demands.Compared(keys, func(namespaces ...string) ([]string, error) { return namespaces, nil })
	if err != nil {
		return nil, err
	}
	n.at, n.keys, n.all = now, keys, all
	return maps.Clone(all), nil
}

// compared finds the workloads that differ on any node type, as far as the caller can see them.
func (s *Service) compared(ctx context.Context, shown *production.View) (map[evidence.Key]*demand.Compared, error) {
	if s.config.Demands == nil || shown == nil {
		return nil, nil
	}
	var keys []evidence.Key
	for i := range shown.Suggestions {
		for _, single := range shown.Suggestions[i].Unlike {
			keys = append(keys, single.Key)
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	all, err := s.names.of(keys, s.config.Demands, s.now())
	if err != nil {
		return nil, err
	}
	var namespaces []string
	for _, c := range all {
		namespaces = append(namespaces, c.Namespace)
	}
	slices.Sort(namespaces)
	visible, err := s.config.Viewer.View(ctx).Visible(slices.Compact(namespaces)...)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(_ evidence.Key, c *demand.Compared) bool { return !slices.Contains(visible, c.Namespace) })
	return all, nil
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
