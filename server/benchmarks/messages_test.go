package benchmarks

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/estimate"
)

func TestEnds(t *testing.T) {
	t.Run("a suggestion has both ends of its ratio, if they are known", func(t *testing.T) {
		if m := estimateMessage(&estimate.Estimate{Ends: &estimate.Ends{OneThread: 1, AllThreads: 1.99}}); m.GetEnds().GetOneThread() != 1 || m.GetEnds().GetAllThreads() != 1.99 {
			t.Errorf("got %v", m.GetEnds())
		}
		if m := estimateMessage(&estimate.Estimate{}); m.GetEnds() != nil {
			t.Errorf("got %v", m.GetEnds())
		}
	})
}
