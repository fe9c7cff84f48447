package judge

import (
	"fmt"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
)

// mostParts is how many benchmarks are named: the text is kept with the ratio.
const mostParts = 8

// why tells in one line what a ratio is made of.
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
	return fmt.Sprintf("%.2f (%.2f to %.2f) by %d %s: %s", e.Ratio, e.Low, e.High, e.Machines, machines, strings.Join(parts, ", "))
}
