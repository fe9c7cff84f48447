package estimate

import (
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
		want     bool
	}{
		{"two machines that agree", 2, 1, false},
		{"two machines that nearly agree", 2, 1.02, true},
		{"two machines, one much faster", 2, 100, true},
		{"two machines, one much slower", 2, 0.01, true},
		{"three machines, one much faster", 3, 100, true},
		{"one of many is an outlier, and raises no doubt", 12, 100, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var samples []sample.Sample
			for _, benchmark := range []string{"a", "b"} {
				each := make([]int, tc.machines)
				for i := range each {
					each[i] = 2
				}
				samples = append(samples, batch{"n2d", benchmark, 100, each}.samples()...)
				for _, x := range (batch{"n4", benchmark, 100, each}).samples() {
					if x.Machine == "n4-0" {
						x.Score *= tc.odd
					}
					samples = append(samples, x)
				}
			}
			s := Defaults()
			s.MinMachines = 2
			if e := estimates(samples, "n2d", s)["n4"]; held(e, IntervalTooWide) != tc.want {
				t.Errorf("ratio %.2f in %v, doubts %v", e.Ratio, e.Interval, e.Doubts)
			}
		})
	}
}
