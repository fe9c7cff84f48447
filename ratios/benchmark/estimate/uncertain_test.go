package estimate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

func TestUncertain(t *testing.T) {
	t.Run("one machine of few does not move a ratio by itself", oneMachineOfFewDoesNotMoveARatioByItself)
}

// With few machines, it is not clear which one is the odd one, so none is trusted.
func oneMachineOfFewDoesNotMoveARatioByItself(t *testing.T) {
	for _, tc := range []struct {
		name     string
		machines int
		odd      float64
		want     []Code
	}{
		{"two machines that agree", 2, 1.05, nil},
		{"two machines, one much faster", 2, 100, []Code{MachinesDisagree}},
		{"two machines, one much slower", 2, 0.01, []Code{MachinesDisagree}},
		{"three machines, one much faster", 3, 100, []Code{MachinesDisagree}},
		{"one of many is an outlier, and raises no doubt", 12, 100, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for _, benchmark := range []string{"a", "b"} {
				each := make([]int, tc.machines)
				for i := range each {
					each[i] = 2
				}
				samples = append(samples, batch{"n2d", benchmark, 100, each}.samples()...)
				first := len(samples)
				samples = append(samples, batch{"n4", benchmark, 100, each}.samples()...)
				for i := range samples[first:] {
					if samples[first+i].Machine == "n4-0" {
						samples[first+i].Score *= tc.odd
					}
				}
			}
			e := estimates(samples, "n2d", Defaults())["n4"]
			if len(e.Doubts) != len(tc.want) || len(e.Doubts) > 0 && e.Doubts[0].Code != tc.want[0] {
				t.Errorf("ratio %.2f (%.2f to %.2f), doubts %v", e.Ratio, e.Low, e.High, e.Doubts)
			}
			apart := fmt.Sprintf("between %.2f and %.2f, a factor of %.2f, at most 1.30", e.Low, e.High, e.High/e.Low)
			if len(e.Doubts) > 0 && !strings.Contains(e.Doubts[0].Message, apart) {
				t.Errorf("doubts %v, want %q", e.Doubts, apart)
			}
		})
	}
}
