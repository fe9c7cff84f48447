package estimate

import (
	"math"
	"strings"
	"testing"
)

// TestBusyMachines measures how many of the ratios that are applied are wrong if other processes
// used the machines of one side only.
func TestBusyMachines(t *testing.T) {
	const times, tolerance = 300, 0.03
	p := population{ratio: 1.08, benchmarks: 8, machines: 20, between: 0.01, machineNoise: 0.02, runNoise: 0.01}
	for _, tc := range []struct {
		name     string
		of, base float64
		// least is how many of the ratios must be applied at least.
		least float64
		// says is in the reason why others are not applied.
		says string
	}{
		{"none of them", 0, 0, 0.9, ""},
		{"all alike", 0.5, 0.5, 0.9, ""},
		{"a little on one side", 0.05, 0, 0.9, ""},
		{"those of the node type", 0.6, 0, 0, "other processes used 60% more of the time of t,"},
		{"those of the baseline", 0, 0.6, 0, "other processes used 60% more of the time of base,"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			applied, wrong, covered := 0, 0, 0
			for i := range times {
				samples := p.draw(seeded(uint64(i)))
				for j := range samples {
					x := &samples[j]
					x.OtherLoad = tc.base
					if strings.HasPrefix(x.Machine, "t-") {
						x.OtherLoad = tc.of
					}
					x.Score *= 1 - loadBias*x.OtherLoad
				}
				e := estimates(samples, "base", Defaults())["t"]
				if !e.Interval.Excludes(p.ratio) {
					covered++
				}
				for _, doubt := range e.Doubts {
					if doubt.Code != IntervalTooWide || !strings.Contains(doubt.Message, tc.says) {
						t.Errorf("got %+v, want it to say %q", doubt, tc.says)
					}
				}
				if len(e.Doubts) == 0 {
					applied++
					if math.Abs(e.Ratio/p.ratio-1) > tolerance {
						wrong++
					}
				}
			}
			t.Logf("%d of %d are applied, %d of these are off by more than 3%%; %d intervals contain the true ratio", applied, times, wrong, covered)
			if float64(wrong) > 0.05*float64(applied) {
				t.Errorf("%d of %d applied ratios are off by more than 3%%, want at most 5%%", wrong, applied)
			}
			if float64(covered) < 0.93*times {
				t.Errorf("%d of %d intervals contain the true ratio, want 93%%", covered, times)
			}
			if float64(applied) < tc.least*times {
				t.Errorf("%d of %d are applied, want %.0f%%", applied, times, 100*tc.least)
			}
		})
	}
}
