package benchmarks

import (
	"fmt"
	"strconv"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// score returns a score with one digit after the point, if it is large enough for that to be
// precise. 0 is an unknown score.
func score(f float64) string {
	if f < 1000 {
		return print.Factor(f)
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// percent returns a share, e.g. "1.2%".
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// changedBy returns the relative change in a performance. A faster node type frees, a slower
// one adds, because less or more is requested there.
func changedBy(old, new float64) print.Cell {
	if old == 0 || new == 0 {
		return print.Cell{Text: print.Absent}
	}
	text := fmt.Sprintf("%+.1f%%", 100*(new/old-1))
	switch {
	case new > old:
		return print.Cell{Text: text, Style: print.Freed}
	case new < old:
		return print.Cell{Text: text, Style: print.Added}
	}
	return print.Cell{Text: "0.0%"}
}
