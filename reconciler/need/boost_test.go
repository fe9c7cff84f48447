package need_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestBoosted(t *testing.T) {
	three, more := sizing.Boost{Factor: sizing.Factor{Num: 3000, Den: 1000}}, sizing.Boost{More: 500}
	faster := sizing.Factor{Num: 4, Den: 5}
	shows := func(target int64, limits need.LimitMode) *need.Recommendation {
		return &need.Recommendation{Target: target, Rules: &need.Rules{Limits: need.Limits{CPU: limits}}}
	}
	for _, tc := range []struct {
		name       string
		authored   sizing.Amount
		shows      *need.Recommendation
		bounds     sizing.Range
		guaranteed bool
		by, limits sizing.Boost
		settled    sizing.Amount
		want       sizing.Amount
		clamped    bool
	}{
		{name: "a factor", authored: sizing.Amount{Request: 1000, Limit: 2000}, by: three, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 2400, Limit: 4800}},
		{name: "an amount is one of the baseline", authored: sizing.Amount{Request: 1000, Limit: 2000}, by: more, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 1200, Limit: 2400}},
		{name: "an equal limit", authored: sizing.Amount{Request: 1000, Limit: 1000}, by: three, settled: sizing.Amount{Request: 800, Limit: 800}, want: sizing.Amount{Request: 2400, Limit: 2400}},
		{name: "no limit", authored: sizing.Amount{Request: 1000}, by: three, settled: sizing.Amount{Request: 800}, want: sizing.Amount{Request: 2400}},
		{name: "a maximum", authored: sizing.Amount{Request: 1000, Limit: 2000}, bounds: sizing.Range{Max: 1000}, by: three, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 1000, Limit: 2000}, clamped: true},
		{name: "a maximum that leaves nothing", authored: sizing.Amount{Request: 1000, Limit: 2000}, bounds: sizing.Range{Max: 500}, by: three, settled: sizing.Amount{Request: 500, Limit: 1000}, want: sizing.Amount{Request: 500, Limit: 1000}, clamped: true},
		{name: "a minimum", authored: sizing.Amount{Request: 10, Limit: 20}, bounds: sizing.Range{Min: 50}, by: three, settled: sizing.Amount{Request: 50, Limit: 51}, want: sizing.Amount{Request: 50, Limit: 51}, clamped: true},
		{name: "what usage shows", authored: sizing.Amount{Request: 1000, Limit: 2000}, shows: shows(500, need.Follow), by: three, settled: sizing.Amount{Request: 400, Limit: 800}, want: sizing.Amount{Request: 1200, Limit: 2400}},
		{name: "a size that stays near what usage shows", authored: sizing.Amount{Request: 1000, Limit: 2000}, shows: shows(500, need.Follow), by: three, settled: sizing.Amount{Request: 440, Limit: 880}, want: sizing.Amount{Request: 1320, Limit: 2640}},
		{name: "a limit that stays is raised in proportion", authored: sizing.Amount{Request: 1000, Limit: 2000}, shows: shows(500, need.Keep), by: three, settled: sizing.Amount{Request: 400, Limit: 1600}, want: sizing.Amount{Request: 1200, Limit: 2400}},
		{name: "a limit that stays and is high", authored: sizing.Amount{Request: 1000, Limit: 8000}, shows: shows(100, need.Keep), by: three, settled: sizing.Amount{Request: 80, Limit: 6400}, want: sizing.Amount{Request: 240, Limit: 6400}},
		{name: "a limit that is rounded stays within its proportion, which a LimitRange may limit", authored: sizing.Amount{Request: 200, Limit: 300}, shows: shows(333, need.Follow), by: three, settled: sizing.Amount{Request: 266, Limit: 399}, want: sizing.Amount{Request: 799, Limit: 1198}},
		{name: "a limit that is rounded stays above its request", authored: sizing.Amount{Request: 1000, Limit: 1001}, by: three, settled: sizing.Amount{Request: 800, Limit: 801}, want: sizing.Amount{Request: 2400, Limit: 2402}},
		{name: "a limit next to a small request stays above it", authored: sizing.Amount{Request: 1000, Limit: 1001}, by: sizing.Boost{Factor: sizing.Factor{Num: 1100, Den: 1000}}, settled: sizing.Amount{Request: 800, Limit: 801}, want: sizing.Amount{Request: 880, Limit: 881}},
		{name: "what usage shows of a Guaranteed pod", authored: sizing.Amount{Request: 1000, Limit: 1000}, shows: shows(500, need.Keep), guaranteed: true, by: three, settled: sizing.Amount{Request: 400, Limit: 400}, want: sizing.Amount{Request: 1200, Limit: 1200}},
		{name: "a limit alone", authored: sizing.Amount{Request: 1000, Limit: 2000}, limits: three, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 800, Limit: 4800}},
		{name: "a limit alone, by an amount of the baseline", authored: sizing.Amount{Request: 1000, Limit: 2000}, limits: more, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 800, Limit: 2000}},
		{name: "a limit more than its request", authored: sizing.Amount{Request: 1000, Limit: 2000}, by: more, limits: three, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 1200, Limit: 4800}},
		{name: "a limit less than its request", authored: sizing.Amount{Request: 1000, Limit: 2000}, by: three, limits: more, settled: sizing.Amount{Request: 800, Limit: 1600}, want: sizing.Amount{Request: 2400, Limit: 4800}},
		{name: "a limit alone that equals its request", authored: sizing.Amount{Request: 1000, Limit: 1000}, limits: three, settled: sizing.Amount{Request: 800, Limit: 800}, want: sizing.Amount{Request: 800, Limit: 2400}},
		{name: "a limit alone of a Guaranteed pod", authored: sizing.Amount{Request: 1000, Limit: 1000}, limits: three, guaranteed: true, settled: sizing.Amount{Request: 800, Limit: 800}, want: sizing.Amount{Request: 800, Limit: 800}},
		{name: "a limit that is missing", authored: sizing.Amount{Request: 1000}, limits: three, settled: sizing.Amount{Request: 800}, want: sizing.Amount{Request: 800}},
		{name: "a limit alone next to what usage shows, which stays as it is", authored: sizing.Amount{Request: 1000, Limit: 2000}, shows: shows(500, need.Follow), limits: three, settled: sizing.Amount{Request: 441, Limit: 883}, want: sizing.Amount{Request: 441, Limit: 2650}},
		{name: "what usage shows, within bounds", authored: sizing.Amount{Request: 1000, Limit: 2000}, shows: shows(500, need.Follow), bounds: sizing.Range{Max: 700}, by: three, settled: sizing.Amount{Request: 400, Limit: 800}, want: sizing.Amount{Request: 700, Limit: 1400}, clamped: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := need.Need{Authored: tc.authored, Recommended: tc.shows, Bounds: &tc.bounds}
			if got, clamped := n.Boosted(sizing.CPU, tc.by, tc.limits, tc.settled, faster, tc.guaranteed); got != tc.want || clamped != tc.clamped {
				t.Errorf("got %v, clamped: %t; want %v", got, clamped, tc.want)
			}
		})
	}
}
