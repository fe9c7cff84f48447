package benchmarks

import (
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark"
	"github.com/workload-resizer/workload-resizer/ratios/benchmark/judge"
	"github.com/workload-resizer/workload-resizer/ratios/production"
)

// Contradictions returns the ratios that production contradicts: those in effect, and those that benchmarks suggest. measured is
// nil without benchmarks.
func Contradictions(shown *production.View, table *ratios.Table, measured *judge.View) []production.Contradiction {
	var suggested []production.Suggested
	if measured != nil && measured.Baseline == shown.Baseline {
		for i := range measured.Estimates {
			if e := &measured.Estimates[i]; e.Interval != nil && len(e.Doubts) == 0 {
				suggested = append(suggested, production.Suggested{NodeType: e.NodeType, Source: benchmark.Source, Ratio: e.Ratio, Low: e.Interval.Low, High: e.Interval.High})
			}
		}
	}
	return shown.Contradictions(table, suggested)
}
