package measure

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// counting is a kernel whose works count their units, by the order in which they
// were made.
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
		{"wanders through the memory of all", true, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCrew([]int{0, 0, 0})
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
			// One more than counts, to warm up.
			if used != tc.works || units != int64(k.Units)+1 {
				t.Errorf("used %d works, did %d units", used, units)
			}
		})
	}
}

func TestTurn(t *testing.T) {
	t.Run("nobody has the machine to itself while it counts", nobodyHasTheMachineToItselfWhileItCounts)
	t.Run("a trial of one thread is done in one way", aTrialOfOneThreadIsDoneInOneWay)
	t.Run("what is broken is told rather than that the time was up", whatIsBrokenIsToldRatherThanThatTheTimeWasUp)
}

func nobodyHasTheMachineToItselfWhileItCounts(t *testing.T) {
	c := newCrew([]int{0, 0, 0})
	defer c.dismiss()
	k, counts := counting(false)
	rates, err := newTrial(c, k, nil, 3).ways[0](t.Context())
	if err != nil || len(rates) != 3 || slices.Min(rates) <= 0 {
		t.Fatalf("got %v, %v", rates, err)
	}
	for i := range counts {
		if n := counts[i].Load(); n <= int64(k.Units) {
			t.Errorf("work %d: %d units are not a warm-up and %d", i, n, k.Units)
		}
	}
}

func aTrialOfOneThreadIsDoneInOneWay(t *testing.T) {
	c := newCrew([]int{0})
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

func whatIsBrokenIsToldRatherThanThatTheTimeWasUp(t *testing.T) {
	broken := errors.New("broken")
	for _, errs := range [][]error{
		{nil, broken},
		{context.DeadlineExceeded, broken, nil},
		{broken, context.DeadlineExceeded},
	} {
		if err := first(errs); !errors.Is(err, broken) {
			t.Errorf("of %v got %v", errs, err)
		}
	}
	if err := first([]error{nil, nil}); err != nil {
		t.Errorf("got %v", err)
	}
}
