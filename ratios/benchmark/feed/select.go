package feed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/suite"
)

// CheckBenchmark returns why a feed of the format cannot read only this benchmark; nil if it can. The
// benchmarks of most formats are suites of the table, so that any other name is a typo.
func CheckBenchmark(f Format, benchmark string) error {
	if benchmark == "" || f == CloudCSV || f == Samples {
		return nil
	}
	var read []string
	for _, s := range suite.Suites {
		if s.Weight > 0 && len(s.Tests) > 0 {
			read = append(read, s.Name)
		}
	}
	if slices.Contains(read, benchmark) {
		return nil
	}
	return fmt.Errorf("must be a suite that is read from feeds of the format %s, not %q: one of %s", f, benchmark, strings.Join(read, ", "))
}

// NamesInstanceType reports whether users can name the machine that a feed of the format is about.
func NamesInstanceType(f Format) bool { return f == Geekbench || f == Phoronix }
