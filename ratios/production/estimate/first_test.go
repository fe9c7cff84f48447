package estimate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// days returns a chain of workloads after a number of days, of which the first ones ran for many.
func days(after float64, many int) *evidence.Evidence {
	e := chain(200)
	for i := many; i < 200; i++ {
		c := &e.Workloads[evidence.Key(i)].Cells[0]
		c.Like.N, c.Like.Squares = 13*after, 13*after*0.02
		// The slopes of few days differ by chance, and are as far from 0.
		c.Slope = evidence.Slope{Days: math.Floor(after), Weight: math.Floor(after), Mean: 0.3 * math.Sin(float64(i)), Squares: 0.09 * max(math.Floor(after)-1, 0)}
	}
	return e
}

func TestFirstDays(t *testing.T) {
	t.Run("show a preliminary ratio", firstDaysShowAPreliminaryRatio)
	t.Run("do not count if enough workloads ran for longer", firstDaysDoNotCountIfEnoughWorkloadsRanForLonger)
	t.Run("count if few workloads ran for longer", firstDaysCountIfFewWorkloadsRanForLonger)
	t.Run("hold back what misleads", firstDaysHoldBackWhatMisleads)
	t.Run("end if load does not vary", firstDaysEndIfLoadDoesNotVary)
}

func firstDaysShowAPreliminaryRatio(t *testing.T) {
	for after, more := range map[float64]string{1: "wait for about 2 more days", 2: "wait for about 1 more day", 0.95: "wait for about 3 more days"} {
		r := Estimate(days(after, 0), "e2", Defaults())
		x := of(t, r, "n4")
		if math.Abs(x.Cluster.Ratio/1.32-1) > 0.02 || x.Workloads < 99 || !slices.Contains(codes(x), TooFewDays) {
			t.Errorf("after %v days: %+v", after, x)
			continue
		}
		if at := slices.Index(codes(x), TooFewDays); !strings.Contains(x.Doubts[at].Detail, more) {
			t.Errorf("after %v days: %+v, want %q", after, x.Doubts, more)
		}
		for _, w := range r.Workloads {
			if w.Held != TooFewHours && w.Held != LoadSteady || len(w.Types) > 0 {
				t.Fatalf("after %v days, a workload counts by itself: %+v", after, w)
			}
		}
	}
	if x := of(t, Estimate(days(0.8, 0), "e2", Defaults()), "n4"); x.Cluster.Ratio != 0 || !slices.Equal(codes(x), []Code{NotCompared}) {
		t.Errorf("after few hours: %+v", x)
	}
}

func firstDaysDoNotCountIfEnoughWorkloadsRanForLonger(t *testing.T) {
	x := of(t, Estimate(days(1, 120), "e2", Defaults()), "n4")
	if x.Workloads != 60 || x.Held[TooFewHours] != 40 || len(x.Doubts) > 0 {
		t.Errorf("%+v", x)
	}
}

func firstDaysCountIfFewWorkloadsRanForLonger(t *testing.T) {
	x := of(t, Estimate(days(1, 8), "e2", Defaults()), "n4")
	if x.Workloads < 99 || x.Held[TooFewHours] != 0 || !slices.Equal(codes(x), []Code{TooFewDays}) || !strings.Contains(x.Doubts[0].Detail, "2 more days") {
		t.Errorf("%+v", x)
	}
}

func firstDaysHoldBackWhatMisleads(t *testing.T) {
	e := days(1, 0)
	for i := range 10 {
		c := &e.Workloads[evidence.Key(2*i+1)].Cells[0]
		c.Like.Mean = 0
		c.Spread = [2]float64{0.01, 0.01}
	}
	x := of(t, Estimate(e, "e2", Defaults()), "n4")
	if x.Held[SameUsage]+x.Held[SlopeFalls] < 9 || x.Workloads > 91 || math.Abs(x.Cluster.Ratio/1.32-1) > 0.02 {
		t.Errorf("%+v", x)
	}
}

func firstDaysEndIfLoadDoesNotVary(t *testing.T) {
	e := days(6, 0)
	for _, w := range e.Workloads {
		w.Cells[0].Slope = evidence.Slope{}
	}
	if x := of(t, Estimate(e, "e2", Defaults()), "n4"); x.Cluster.Ratio != 0 || x.Held[LoadSteady] != 100 {
		t.Errorf("%+v", x)
	}
}
