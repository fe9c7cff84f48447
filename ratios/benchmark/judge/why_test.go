package judge

import (
	"fmt"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
)

func TestWhy(t *testing.T) {
	t.Run("describes the origin of a ratio on one short line", describesTheOriginOfARatioOnOneShortLine)
}

func describesTheOriginOfARatioOnOneShortLine(t *testing.T) {
	e := &estimate.Estimate{Ratio: 1.084, Interval: &estimate.Interval{Low: 1.07, High: 1.1}, Machines: 1, Parts: []estimate.Part{{Benchmark: "shown only", Ratio: 9}}}
	for i := range 9 {
		e.Parts = append(e.Parts, estimate.Part{Benchmark: fmt.Sprint("b", i), Ratio: 1.08, Weight: 1})
	}
	if got, want := why(e), "1.08 (1.07 to 1.10) from 1 machine: b0 1.08, b1 1.08, b2 1.08, b3 1.08, b4 1.08, b5 1.08, b6 1.08, b7 1.08, and 1 more"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	e.Parts, e.Machines, e.Interval = e.Parts[:3], 4, nil
	if got, want := why(e), "1.08 from 4 machines: b0 1.08, b1 1.08"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
