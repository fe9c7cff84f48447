package measure

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// counting returns a kernel whose works count their units, in the order of their creation.
func counting(memory bool) (kernel.Kernel, *[3]atomic.Int64) {
	var counts [3]atomic.Int64
	var made atomic.Int64
	return kernel.Kernel{Name: "counting", Amount: 1, Units: 30, Memory: memory, New: func(int) kernel.Work {
		mine := &counts[made.Add(1)-1]
		return func() error {
			mine.Add(1)
			return nil
		}
	}}, &counts
}

func TestAThreadAlone(t *testing.T) {
	for _, tc := range []struct {
		name   string
		memory bool
		works  int
	}{
		{"does its own work", false, 1},
		{"accesses the data of all threads", true, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCrew([]int{0, 0, 0}, settleOn)
			defer c.dismiss()
			k, counts := counting(tc.memory)
			trial := newTrial(c, k, nil, 3)
			rates, err := trial.ways[1](t.Context())
			if err != nil || len(rates) != 1 || rates[0] <= 0 {
				t.Fatalf("got %v, %v", rates, err)
			}
			used, units := 0, int64(0)
			for i := range counts {
				if n := counts[i].Load(); n > 0 {
					used++
					units += n
				}
			}
			// One more than counts, for the warm-up.
			if used != tc.works || units != int64(k.Units)+1 {
				t.Errorf("used %d works, did %d units", used, units)
			}
		})
	}
}

func TestTurn(t *testing.T) {
	t.Run("no thread has the machine to itself while it counts", noThreadHasTheMachineToItselfWhileItCounts)
	t.Run("units during which other threads ran do not count, except for memory", disturbedUnitsDoNotCount)
	t.Run("a trial of one thread runs in one way", aTrialOfOneThreadRunsInOneWay)
	t.Run("a failure takes precedence over an exceeded deadline", aFailureTakesPrecedenceOverAnExceededDeadline)
}

func noThreadHasTheMachineToItselfWhileItCounts(t *testing.T) {
	c := newCrew([]int{0, 0, 0}, settleOn)
	defer c.dismiss()
	k, counts := counting(false)
	rates, err := newTrial(c, k, nil, 3).ways[0](t.Context())
	if err != nil || len(rates) != 3 || slices.Min(rates) <= 0 {
		t.Fatalf("got %v, %v", rates, err)
	}
	for i := range counts {
		if n := counts[i].Load(); n <= int64(k.Units) {
			t.Errorf("work %d: got %d units, want a warm-up and %d", i, n, k.Units)
		}
	}
}

func disturbedUnitsDoNotCount(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		used         []time.Duration
		want, memory float64
	}{
		{[]time.Duration{2 * ms}, 500, 500},
		{[]time.Duration{4 * ms, 2 * ms, 3 * ms, 2 * ms, 5 * ms, 4 * ms, 2 * ms, 4 * ms}, 500, 8 / 0.026},
		{[]time.Duration{4 * ms, 1 * ms, 2 * ms, 4 * ms, 4 * ms, 2 * ms}, 500, 6 / 0.017},
	} {
		memory := (&turn{mean: true}).rate(slices.Clone(tc.used))
		if got := (&turn{}).rate(tc.used); math.Abs(got-tc.want) > 1e-9 || math.Abs(memory-tc.memory) > 1e-9 {
			t.Errorf("%v: rate %v, want %v; of memory %v, want %v", tc.used, got, tc.want, memory, tc.memory)
		}
	}
}

func aTrialOfOneThreadRunsInOneWay(t *testing.T) {
	c := newCrew([]int{0}, settleOn)
	defer c.dismiss()
	k, _ := counting(true)
	trial := newTrial(c, k, [][]int{{0}}, 3)
	for range leastRuns {
		if err := trial.once(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if s, ok := trial.score(); !ok || s.All != s.Single || s.Runs != leastRuns || len(trial.ways) != 1 {
		t.Errorf("got %+v, %v", s, ok)
	}
}

func aFailureTakesPrecedenceOverAnExceededDeadline(t *testing.T) {
	broken := errors.New("broken")
	for _, errs := range [][]error{
		{nil, broken},
		{context.DeadlineExceeded, broken, nil},
		{broken, context.DeadlineExceeded},
	} {
		if err := first(errs); !errors.Is(err, broken) {
			t.Errorf("errors %v: got %v", errs, err)
		}
	}
	if err := first([]error{nil, nil}); err != nil {
		t.Errorf("got %v", err)
	}
}
