package estimate

import (
	"math"
	"strconv"
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
				if covers(e.Interval, p.ratio) {
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

// TestFewCalmMachines measures whether ratios become wrong when a few machines that were measured at
// rest agree exactly: all others may then be outliers.
func TestFewCalmMachines(t *testing.T) {
	const times, tolerance = 200, 0.03
	allApplied, allWrong := 0, 0
	for _, calm := range []int{1, 3, 5} {
		for _, load := range []float64{0.15, 0.3, 0.6} {
			for _, both := range []bool{false, true} {
				p := population{ratio: 1.08, benchmarks: 6, machines: 20, between: 0.01, machineNoise: 0.02, runNoise: 0.005}
				applied, wrong, covered := 0, 0, 0
				for i := range times {
					random := seeded(uint64(i))
					samples := p.draw(random)
					// The machines at rest agree, but on the speed of a random machine.
					agreed := map[string]float64{"base": 1 + p.machineNoise*random.NormFloat64(), "t": 1 + p.machineNoise*random.NormFloat64()}
					exact := p
					exact.machineNoise, exact.runNoise = 0, 0
					at := exact.draw(seeded(uint64(i)))
					for j := range samples {
						x := &samples[j]
						side, number, _ := strings.Cut(x.Machine, "-")
						n, err := strconv.Atoi(number)
						if err != nil {
							t.Fatal(err)
						}
						switch {
						case side == "base" && !both:
						case n < calm:
							x.Score = at[j].Score * agreed[side]
						default:
							x.OtherLoad = load
							x.Score *= 1 - loadBias*load
						}
					}
					e := estimates(samples, "base", Defaults())["t"]
					if e.Interval != nil && covers(e.Interval, p.ratio) {
						covered++
					}
					if len(e.Doubts) == 0 {
						applied++
						if math.Abs(e.Ratio/p.ratio-1) > tolerance {
							wrong++
						}
					}
				}
				t.Logf("%2d at rest, others next to %.0f%%, on both sides: %5t: %3d of %d are applied, %d of these are off by more than 3%%; %d intervals contain the true ratio",
					calm, 100*load, both, applied, times, wrong, covered)
				// That five agree by chance is unlikely, and their agreement is misleading.
				if float64(covered) < 0.8*times {
					t.Errorf("%d of %d intervals contain the true ratio, want 80%%", covered, times)
				}
				allApplied, allWrong = allApplied+applied, allWrong+wrong
			}
		}
	}
	if float64(allWrong) > 0.05*float64(allApplied) {
		t.Errorf("%d of %d applied ratios are off by more than 3%%, want at most 5%%", allWrong, allApplied)
	}
}
