package judge

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
)

// mostParts limits how many benchmarks are named: the text is stored with the ratio.
const mostParts = 8

// why describes on one line what a ratio is computed from.
func why(e *estimate.Estimate) string {
	var parts []string
	for _, part := range e.Parts {
		if part.Weight > 0 {
			parts = append(parts, fmt.Sprintf("%s %.2f", part.Benchmark, part.Ratio))
		}
	}
	if more := len(parts) - mostParts; more > 0 {
		parts = append(parts[:mostParts], fmt.Sprintf("and %d more", more))
	}
	machines := "machines"
	if e.Machines == 1 {
		machines = "machine"
	}
	interval := ""
	if e.Interval != nil {
		interval = fmt.Sprintf(" (%.2f to %.2f)", e.Interval.Low, e.Interval.High)
	}
	return fmt.Sprintf("%.2f%s from %d %s: %s", e.Ratio, interval, e.Machines, machines, strings.Join(parts, ", "))
}
