package resizes

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/server/changelog"
)

func TestReached(t *testing.T) {
	// report is a version that is reported some time after the previous one.
	type report struct {
		after   time.Duration
		version uint64
	}
	for _, tc := range []struct {
		name    string
		reports []report
		// outOfOrder has the indices of the reports that are not newer than all before.
		outOfOrder []int
		want       changelog.Place
	}{
		{"nothing is settled before the first minute", []report{{0, 10}, {time.Second, 20}}, nil, changelog.Place{Token: 0, Reached: 20}},
		{"what was reported before a quiet minute is settled", []report{{0, 10}, {time.Second, 20}, {settleFor, 30}}, nil, changelog.Place{Token: 20, Reached: 30}},
		{
			"without a quiet minute, a version is settled after one to two minutes",
			[]report{{0, 10}, {settleFor / 2, 20}, {settleFor / 2, 30}, {settleFor / 2, 40}, {settleFor / 2, 50}, {settleFor / 2, 60}}, nil,
			changelog.Place{Token: 20, Reached: 60},
		},
		{"an older version after a newer one is out of order", []report{{0, 10}, {0, 30}, {0, 20}, {0, 40}}, []int{2}, changelog.Place{Token: 0, Reached: 40}},
		{"the same version twice is out of order", []report{{0, 10}, {0, 10}}, []int{1}, changelog.Place{Token: 0, Reached: 10}},
		{"a change without a version is in order, and is where the log already was", []report{{0, 10}, {0, 0}}, nil, changelog.Place{Token: 0, Reached: 10}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r reached
			now := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
			var outOfOrder []int
			for i, report := range tc.reports {
				now = now.Add(report.after)
				if !r.by(report.version, now) {
					outOfOrder = append(outOfOrder, i)
				}
			}
			if len(outOfOrder) != len(tc.outOfOrder) || len(outOfOrder) > 0 && outOfOrder[0] != tc.outOfOrder[0] {
				t.Errorf("out of order: %v, want %v", outOfOrder, tc.outOfOrder)
			}
			if got := r.place(); got != tc.want {
				t.Errorf("at %+v, want %+v", got, tc.want)
			}
		})
	}
	t.Run("a version that pods pass without a report is settled after a minute", func(t *testing.T) {
		var r reached
		now := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
		r.by(10, now)
		for _, step := range []struct {
			after   time.Duration
			version uint64
			want    changelog.Place
		}{
			{0, 20, changelog.Place{Token: 0, Reached: 10}},
			{settleFor - time.Second, 30, changelog.Place{Token: 0, Reached: 10}},
			{time.Second, 40, changelog.Place{Token: 20, Reached: 20}},
			{settleFor, 40, changelog.Place{Token: 40, Reached: 40}},
		} {
			now = now.Add(step.after)
			r.pass(step.version, now)
			if got := r.place(); got != step.want {
				t.Errorf("at %+v, want %+v", got, step.want)
			}
		}
		if r.by(35, now) {
			t.Error("a version that was passed long ago is in order")
		}
		if got := (changelog.Place{Token: 40, Reached: 40}); r.place() != got {
			t.Errorf("moved back to %+v", r.place())
		}
	})
	t.Run("everything is settled once all pods were reported", func(t *testing.T) {
		var r reached
		r.by(30, time.Now())
		r.by(20, time.Now())
		r.settle()
		if got := (changelog.Place{Token: 30, Reached: 30}); r.place() != got {
			t.Errorf("at %+v", r.place())
		}
	})
}
