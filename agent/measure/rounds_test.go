package measure

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/workload-resizer/workload-resizer/agent/kernel"
)

// doing returns a trial whose repetitions return the rates in order, and then repeat the last.
// Each repetition takes that long.
func doing(takes time.Duration, rates ...float64) *trial {
	way := func(ctx context.Context) ([]float64, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(takes):
		}
		rate := rates[0]
		if len(rates) > 1 {
			rates = rates[1:]
		}
		return []float64{rate}, nil
	}
	return &trial{kinds: [][]int{{0}}, kernel: kernel.Kernel{Name: "test"}, ways: []repetition{way}, series: make([]series, 1)}
}

func TestRounds(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name   string
		trials []*trial
		within time.Duration
		took   time.Duration
		runs   []int
	}{
		{"measures a steady machine for 8 seconds", []*trial{doing(200*ms, 100), doing(200*ms, 7)}, 20 * time.Second, 8 * time.Second, []int{20, 20}},
		{"needs twelve repetitions", []*trial{doing(time.Second, 100)}, 20 * time.Second, 12 * time.Second, []int{12}},
		{
			"continues all kernels while one has not settled", []*trial{doing(200*ms, 100), doing(200*ms, 180, 170, 160, 150, 140, 130, 120, 110, 100)},
			20 * time.Second, 20 * time.Second, []int{50, 50},
		},
		{
			"ends when the fastest quarter has settled", []*trial{doing(200*ms, 100), doing(200*ms, append(rising(25), 500)...)},
			20 * time.Second, 11600 * ms, []int{29, 29},
		},
		{"ends when the budget is used up", []*trial{doing(300*ms, 1, 2, 3, 4, 5, 6, 7, 8, 9)}, 2 * time.Second, 2 * time.Second, []int{6}},
		{
			"a kernel that exceeds its share does not use the time of others", []*trial{doing(time.Hour, 100), doing(ms, 100)},
			3 * time.Second, 3 * time.Second, []int{0, 5},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.within)
				defer cancel()
				began := time.Now()
				if err := rounds(ctx, tc.trials); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took != tc.took {
					t.Errorf("took %v, want %v", took, tc.took)
				}
				for i, want := range tc.runs {
					if got := tc.trials[i].series[0].length(); got != want {
						t.Errorf("kernel %d: %d repetitions, want %d", i, got, want)
					}
				}
			})
		})
	}
}

// rising returns n rates, each larger than the previous one by more than settledSpread.
func rising(n int) []float64 {
	all, rate := make([]float64, n), 100.0
	for i := range all {
		all[i] = rate
		rate *= 1.02
	}
	return all
}

func TestRoundsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		order := ""
		named := func(name string) *trial {
			d := doing(100*time.Millisecond, 1)
			way := d.ways[0]
			d.ways = []repetition{func(ctx context.Context) ([]float64, error) {
				order += name
				return way(ctx)
			}}
			return d
		}
		if err := rounds(ctx, []*trial{named("a"), named("b"), named("c")}); err != nil {
			t.Fatal(err)
		}
		if order[:9] != "abcabcabc" {
			t.Errorf("trials ran in the order %s", order)
		}
	})
}

func TestRoundsRules(t *testing.T) {
	t.Run("a kernel that fails ends the rounds", aKernelThatFailsEndsTheRounds)
}

func aKernelThatFailsEndsTheRounds(t *testing.T) {
	broken := errors.New("broken")
	bad := &trial{kinds: [][]int{{0}}, kernel: kernel.Kernel{Name: "bad"}, series: make([]series, 1), ways: []repetition{
		func(context.Context) ([]float64, error) { return nil, broken },
	}}
	err := rounds(t.Context(), []*trial{doing(0, 100), bad})
	if !errors.Is(err, broken) || err.Error() != "measure bad: broken" {
		t.Errorf("got %v", err)
	}
}
