package need_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestNeed(t *testing.T) {
	faster, slower := sizing.Factor{Num: 4, Den: 5}, sizing.Factor{Num: 5, Den: 4}
	limits := func(l need.Limits) *need.Rules { return &need.Rules{Limits: l} }
	for _, test := range []struct {
		name       string
		measure    *sizing.Measure
		authored   sizing.Amount
		target     int64 // 0: authored
		rules      *need.Rules
		bounds     sizing.Range
		factor     sizing.Factor
		guaranteed bool
		want       sizing.Amount
		clamped    bool
	}{
		{"of an author is scaled", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 0, nil, sizing.Range{}, faster, false, sizing.Amount{Request: 800, Limit: 1600}, false},
		{"from usage is scaled, with a limit that follows", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 500, limits(need.Limits{}), sizing.Range{}, faster, false, sizing.Amount{Request: 400, Limit: 800}, false},
		{"has a limit that stays as on the node", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 500, limits(need.Limits{CPU: need.Keep}), sizing.Range{}, slower, false, sizing.Amount{Request: 625, Limit: 2500}, false},
		{"has a limit where it would be removed, which a resize cannot do", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 500, limits(need.Limits{CPU: need.None}), sizing.Range{}, faster, false, sizing.Amount{Request: 400, Limit: 1600}, false},
		{"has no limit without the author's", sizing.Memory, sizing.Amount{Request: 1000 * mib}, 500 * mib, limits(need.Limits{Memory: need.Multiple, MemoryMultiple: 2}), sizing.Range{}, faster, false, sizing.Amount{Request: 400 * mib}, false},
		{"has a limit that is a multiple on the node", sizing.Memory, sizing.Amount{Request: 1000 * mib, Limit: 1000 * mib}, 500 * mib, limits(need.Limits{Memory: need.Multiple, MemoryMultiple: 2}), sizing.Range{}, faster, false, sizing.Amount{Request: 400 * mib, Limit: 800 * mib}, false},
		{"of a Guaranteed pod has equal limits", sizing.Memory, sizing.Amount{Request: 1000 * mib, Limit: 1000 * mib}, 500 * mib, limits(need.Limits{Memory: need.Multiple, MemoryMultiple: 2}), sizing.Range{}, faster, true, sizing.Amount{Request: 400 * mib, Limit: 400 * mib}, false},
		{"has a limit above the request if the author wrote it so", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 5000, limits(need.Limits{CPU: need.Keep}), sizing.Range{}, faster, false, sizing.Amount{Request: 4000, Limit: 4001}, false},
		{"is within bounds", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 500, limits(need.Limits{}), sizing.Range{Min: 450}, faster, false, sizing.Amount{Request: 450, Limit: 900}, true},
		{"from usage is never nothing", sizing.CPU, sizing.Amount{Request: 1000}, -1, limits(need.Limits{}), sizing.Range{}, faster, false, sizing.Amount{Request: 1}, false},
		{"grows up to a multiple of what the author wrote", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 4001, &need.Rules{MaxGrowth: 4}, sizing.Range{}, faster, false, sizing.Amount{Request: 3200, Limit: 6400}, false},
		{"grows to any amount where nothing is known of the author's", sizing.CPU, sizing.Amount{}, 4001, &need.Rules{MaxGrowth: 4}, sizing.Range{}, faster, false, sizing.Amount{Request: 3201}, false},
		{"grows up to its bounds", sizing.CPU, sizing.Amount{Request: 1000, Limit: 2000}, 4001, &need.Rules{MaxGrowth: 4}, sizing.Range{Max: 3000}, faster, false, sizing.Amount{Request: 3000, Limit: 6000}, true},
		{"grows with a limit that is no larger multiple", sizing.Memory, sizing.Amount{Request: 100 * mib, Limit: 100 * mib}, 500 * mib, &need.Rules{MaxGrowth: 4, Limits: need.Limits{Memory: need.Multiple, MemoryMultiple: 2}}, sizing.Range{}, faster, false, sizing.Amount{Request: 320 * mib, Limit: 320 * mib}, false},
		{"grows with a limit above the request if the author wrote it so", sizing.Memory, sizing.Amount{Request: 100 * mib, Limit: 100*mib + 1}, 500 * mib, &need.Rules{MaxGrowth: 4, Limits: need.Limits{Memory: need.Multiple, MemoryMultiple: 2}}, sizing.Range{}, faster, false, sizing.Amount{Request: 320 * mib, Limit: 321 * mib}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := need.Need{Authored: test.authored, Bounds: &test.bounds}
			if test.target != 0 {
				n.Recommended = &need.Recommendation{Target: max(0, test.target), Rules: test.rules}
			}
			if size, clamped := n.On(test.measure, test.factor, test.guaranteed); size != test.want || clamped != test.clamped {
				t.Errorf("%+v, clamped: %v; want %+v, %v", size, clamped, test.want, test.clamped)
			}
		})
	}
	t.Run("may have led to a limit that belongs to any request within bounds", func(t *testing.T) {
		one := sizing.Factor{Num: 1, Den: 1}
		n := need.Need{Authored: sizing.Amount{Request: 100 * mib, Limit: 100 * mib}, Bounds: &sizing.Range{Max: 1000 * mib}}
		size := sizing.Amount{Request: 100 * mib, Limit: 2000 * mib}
		if n.MayHave(sizing.Memory, size, one, false) {
			t.Error("the author did not write it")
		}
		n.Recommended = &need.Recommendation{Target: 100 * mib, Rules: limits(need.Limits{Memory: need.Multiple, MemoryMultiple: 2})}
		larger := sizing.Amount{Request: 100 * mib, Limit: 2000*mib + 1}
		if !n.MayHave(sizing.Memory, size, one, false) || n.MayHave(sizing.Memory, larger, one, false) || n.MayHave(sizing.Memory, size, one, true) {
			t.Error("a multiple of the largest request is the largest limit, except in Guaranteed pods")
		}
		n.Bounds = &sizing.Range{}
		if !n.MayHave(sizing.Memory, larger, one, false) {
			t.Error("there is no largest request")
		}
	})
}

func TestSettlePartly(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	one, unbounded := sizing.Factor{Num: 1, Den: 1}, &sizing.Range{}
	rules := func(separate bool) *need.Rules {
		return &need.Rules{Updates: need.Updates{Band: 0.1, After: 12 * time.Hour, DecreaseCPU: 24 * time.Hour, Separate: separate, InUse: true}}
	}
	size := sizing.Container{CPU: sizing.Amount{Request: 1000, Limit: 2000}, Memory: sizing.Amount{Request: 1000 * mib, Limit: 1500 * mib}}
	state := func(separate bool) need.State {
		return need.State{
			Needs: [2]need.Need{
				{Authored: size.CPU, Bounds: unbounded, Recommended: &need.Recommendation{Target: 500, Lower: 400, Upper: 600, Rules: rules(separate)}},
				{Authored: size.Memory, Bounds: unbounded},
			},
			Factors: [2]sizing.Factor{one, one}, Size: size, Uses: 5000 * mib, Now: now,
		}
	}
	for _, separate := range []bool{true, false} {
		t.Run("changes only what has a recommendation", func(t *testing.T) {
			s := state(separate)
			if to := s.Settle().Size; to.Memory != size.Memory || to.CPU != (sizing.Amount{Request: 500, Limit: 1000}) {
				t.Errorf("%+v", to)
			}
		})
		t.Run("changes nothing without a recommendation", func(t *testing.T) {
			s := state(separate)
			s.Needs[0].Recommended = nil
			if to := s.Settle(); to.Size != size || !to.Again.IsZero() {
				t.Errorf("%+v", to)
			}
		})
		t.Run("says when a decrease is no longer too soon", func(t *testing.T) {
			s := state(separate)
			s.Resized[0] = now.Add(-time.Hour)
			if to := s.Settle(); to.Size != size || !to.Again.Equal(now.Add(23*time.Hour)) || !to.Recent[0] {
				t.Errorf("%+v, again at %v; recent: %v", to.Size, to.Again, to.Recent)
			}
		})
		t.Run("says when a size within the bounds is corrected", func(t *testing.T) {
			s := state(separate)
			s.Needs[0].Recommended = &need.Recommendation{Target: 1200, Lower: 400, Upper: 2000, Rules: rules(separate)}
			s.Resized[0] = now.Add(-time.Hour)
			if to := s.Settle(); to.Size != size || !to.Again.Equal(now.Add(11*time.Hour)) || !to.Recent[0] {
				t.Errorf("%+v, again at %v; recent: %v", to.Size, to.Again, to.Recent)
			}
			s.Now = time.Time{}
			if to := s.Settle(); to.Size.CPU.Request != 1200 || !to.Again.IsZero() || to.Recent != [2]bool{} {
				t.Errorf("long after: %+v, again at %v; recent: %v", to.Size, to.Again, to.Recent)
			}
		})
		t.Run("a size that is near enough does not stay because it is recent", func(t *testing.T) {
			for _, target := range []int64{950, 1050} {
				s := state(separate)
				s.Needs[0].Recommended = &need.Recommendation{Target: target, Lower: 400, Upper: 2000, Rules: rules(separate)}
				s.Resized[0] = now.Add(-time.Hour)
				if to := s.Settle(); to.Size != size || to.Recent != [2]bool{} {
					t.Errorf("for %d: %+v, recent: %v", target, to.Size, to.Recent)
				}
			}
		})
	}
}

// Bounds outrank what a replica has used, and the QoS class outranks everything.
func TestSettleWithinBounds(t *testing.T) {
	one := sizing.Factor{Num: 1, Den: 1}
	s := need.State{
		Needs: [2]need.Need{
			{Authored: sizing.Amount{Request: 1000, Limit: 1000}, Bounds: &sizing.Range{}},
			{
				Authored: sizing.Amount{Request: 2000 * mib, Limit: 2000 * mib}, Bounds: &sizing.Range{Max: 1000 * mib},
				Recommended: &need.Recommendation{Target: 500 * mib, Lower: 400 * mib, Upper: 600 * mib, Rules: &need.Rules{Updates: need.Updates{Separate: true, InUse: true}}},
			},
		},
		Factors: [2]sizing.Factor{one, one}, Guaranteed: true, Peak: 1500 * mib, Uses: 1400 * mib,
		Size: sizing.Container{CPU: sizing.Amount{Request: 1000, Limit: 1000}, Memory: sizing.Amount{Request: 2000 * mib, Limit: 2000 * mib}},
	}
	if to := s.Settle().Size.Memory; to != (sizing.Amount{Request: 1000 * mib, Limit: 1000 * mib}) {
		t.Errorf("%+v", to)
	}
}
