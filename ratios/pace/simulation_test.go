package pace

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// simulate judges one window after another, and returns the ratio after each.
func simulate(s State, windows int, settings Settings, input func(window int) Input) []float64 {
	ratios := make([]float64, windows)
	for i := range ratios {
		s = Next(s, input(i), start.Add(time.Duration(i+1)*settings.Window), settings)
		ratios[i] = s.Ratio
	}
	return ratios
}

// changes returns the windows that changed the ratio.
func changes(from float64, ratios []float64) []int {
	var at []int
	for i, r := range ratios {
		if r != from {
			at = append(at, i)
		}
		from = r
	}
	return at
}

// turns returns how often the ratio changed its direction.
func turns(from float64, ratios []float64) int {
	n, last := 0, 0.0
	for _, r := range ratios {
		if d := r - from; d != 0 {
			if d*last < 0 {
				n++
			}
			last = d
		}
		from = r
	}
	return n
}

const (
	day = 24
	// quarter is the number of hours for which samples count.
	quarter = 90 * day
)

// estimates simulates estimates of a true ratio. Each window adds one sample with noise; the
// estimate is the median of the samples that are kept.
type estimates struct {
	r     *rand.Rand
	noise float64
	kept  int

	samples []float64
}

func (e *estimates) next(truth float64) float64 {
	e.samples = append(e.samples, truth*math.Exp(e.noise*e.r.NormFloat64()))
	e.samples = e.samples[max(0, len(e.samples)-e.kept):]
	sorted := slices.Sorted(slices.Values(e.samples))
	return sorted[len(sorted)/2]
}

func TestSimulation(t *testing.T) {
	t.Run("noise around a constant does not move the ratio", noiseAroundAConstantDoesNotMoveTheRatio)
	t.Run("follows a change in the true ratio", followsAChangeInTheTrueRatio)
	t.Run("follows a slow drift without flapping", followsASlowDriftWithoutFlapping)
	t.Run("does not flap with alternating estimates", doesNotFlapWithAlternatingEstimates)
	t.Run("does not flap when estimates come and go", doesNotFlapWhenEstimatesComeAndGo)
}

func noiseAroundAConstantDoesNotMoveTheRatio(t *testing.T) {
	for _, tc := range []struct {
		name  string
		noise float64
		kept  int
		most  int // After the first day.
		off   float64
	}{
		{"samples of 1%, each an estimate of its own", 0.01, 1, 1, 0.06},
		{"samples of 1%, the median of 25", 0.01, 25, 1, 0.06},
		{"samples of 3%, the median of 25", 0.03, 25, 1, 0.06},
		{"samples of 5%, the median of 50", 0.05, 50, 1, 0.06},
		// Unlike real estimates, which move by one sample at a time.
		{"samples of 3%, each an estimate of its own", 0.03, 1, quarter / 20, 0.1},
		{"samples of 5%, each an estimate of its own", 0.05, 1, quarter / 6, 0.15},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const runs = 15
			worst, all, off := 0, 0, 0.0
			for seed := range uint64(runs) {
				e := &estimates{r: rand.New(rand.NewPCG(seed, 5)), noise: tc.noise, kept: tc.kept}
				for range tc.kept {
					e.next(1.08) // Samples from before the ratio follows them.
				}
				got := simulate(State{}, quarter, Defaults(), func(int) Input { return goodOver(1.3, e.next(1.08)) })
				n := len(changes(got[day], got[day+1:]))
				worst, all = max(worst, n), all+n
				off = max(off, math.Abs(got[quarter-1]/1.08-1))
			}
			t.Logf("90 days from a hand-written 1.30 to a true 1.08, %d runs: %.2f changes after the first day, %d at most; at most %.1f%% off in the end", runs, float64(all)/runs, worst, 100*off)
			if worst > tc.most || off > tc.off {
				t.Errorf("more than %d changes, or more than %v %% off", tc.most, 100*tc.off)
			}
		})
	}
}

func followsAChangeInTheTrueRatio(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change float64
		steps  int // 0 means no step.
		last   int // The window of the last step.
	}{
		{"3% moves nothing", 1.03, 0, 0},
		{"12% arrives in two steps", 1.12, 2, 3},
		{"30% arrives in three steps", 1.3, 3, 4},
		{"a drop by half arrives in eight steps", 0.5, 8, 9},
	} {
		t.Run(tc.name, func(t *testing.T) {
			settings := Defaults()
			got := simulate(State{Baseline: "n2d", Ratio: 1}, 30*day, settings, func(int) Input { return good(tc.change) })
			at := changes(1, got)
			t.Logf("changes in the windows %v", at)
			if len(at) != tc.steps || tc.steps > 0 && at[len(at)-1] != tc.last-1 {
				t.Errorf("want %d steps, the last in window %d", tc.steps, tc.last)
			}
			if want := map[bool]float64{true: tc.change, false: 1}[tc.steps > 0]; got[len(got)-1] != want {
				t.Errorf("in the end %v, want %v", got[len(got)-1], want)
			}
		})
	}
}

func followsASlowDriftWithoutFlapping(t *testing.T) {
	const weeks = 26
	truth := func(hour int) float64 { return math.Pow(1.01, float64(hour)/(7*day)) }
	for seed := range uint64(20) {
		e := &estimates{r: rand.New(rand.NewPCG(seed, 6)), noise: 0.01, kept: 25}
		got := simulate(State{Baseline: "n2d", Ratio: 1}, weeks*7*day, Defaults(), func(i int) Input { return good(e.next(truth(i))) })
		worst := 0.0
		for i, r := range got {
			worst = max(worst, math.Abs(r/truth(i)-1))
		}
		at := changes(1, got)
		if seed == 0 {
			t.Logf("1%% a week for %d weeks: %d changes, %.1f%% off at most", weeks, len(at), 100*worst)
		}
		// 26% in total, in moves of one dead band each.
		if len(at) > weeks/4 || turns(1, got) > 0 || worst > 0.065 {
			t.Errorf("seed %d: changes %v, %d turns, %.1f%% off", seed, at, turns(1, got), 100*worst)
		}
	}
}

func doesNotFlapWithAlternatingEstimates(t *testing.T) {
	for _, tc := range []struct {
		name  string
		input func(window int) Input
	}{
		{"8% up and down, window by window", func(i int) Input { return good(1 + 0.08*float64(1-2*(i%2))) }},
		{"40% up and down, window by window", func(i int) Input { return good(1 + 0.4*float64(1-2*(i%2))) }},
		{"an estimate and no estimate in turn", func(i int) Input { return []Input{good(1), none}[i%2] }},
		{"a moving and a held-back estimate in turn", func(i int) Input { return []Input{good(1.2), held}[i%2] }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if at := changes(1, simulate(State{Baseline: "n2d", Ratio: 1}, quarter, Defaults(), tc.input)); at != nil {
				t.Errorf("changes in the windows %v", at)
			}
		})
	}
}

func doesNotFlapWhenEstimatesComeAndGo(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 7))
		there, gaps := true, 0
		got := simulate(State{Baseline: "n2d", Ratio: 1.25}, quarter, Defaults(), func(int) Input {
			// Available for two weeks, then missing for two days, on average.
			if before := there; there {
				there = r.IntN(14*day) != 0
			} else if there = r.IntN(2*day) == 0; there != before {
				gaps++
			}
			if there {
				return good(1.25)
			}
			return none
		})
		at := changes(1.25, got)
		if seed == 0 {
			t.Logf("%d gaps in 90 days: %d changes, %d turns", gaps, len(at), turns(1.25, got))
		}
		for i, g := range got {
			if g != 0 && (g < 1 || g > 1.25) {
				t.Fatalf("seed %d: %v in window %d", seed, g, i)
			}
		}
		// Down in three steps, an end without a step, and up in three.
		if gaps == 0 || len(at) > 7*(gaps+1) {
			t.Errorf("seed %d: %d changes in %d gaps", seed, len(at), gaps)
		}
	}
}
