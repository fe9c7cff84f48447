package judge

import (
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/settings"
	"github.com/workload-resizer/workload-resizer/ratios/measured"
)

// judgment returns the judgment of the node types that follow benchmarks.
func (j *Judge) judgment(v *View) *measured.Judgment {
	targets := map[string]measured.Target{}
	for i := range v.Estimates {
		if e := &v.Estimates[i]; v.Settings.Mode(e.NodeType) == settings.Apply {
			targets[e.NodeType] = target(e)
		}
	}
	return &measured.Judgment{Source: benchmark.Source, Baseline: v.Baseline, Ratios: j.config.Ratios, Pace: v.Settings.Pace, Targets: targets}
}

// target returns what an estimate leads to: the suggested ratio, or none if
// there are too few measurements.
func target(e *estimate.Estimate) measured.Target {
	var t measured.Target
	if e.Interval != nil {
		t.Low, t.High = e.Interval.Low, e.Interval.High
	}
	for _, h := range e.Doubts {
		if h.Code.NotEnough() {
			return t
		}
	}
	t.Ratio, t.HeldBack, t.Why = measured.Significant(e.Ratio), len(e.Doubts) > 0, why(e)
	return t
}
