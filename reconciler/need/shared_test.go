package need_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

// shared returns what a container needs that shares its memory: 100Mi most of the time and 400Mi at most, or 300Mi if it were
// not to share.
func shared(share float64) need.Need {
	r := &need.Recommendation{Target: 300 * mib, Steady: 100 * mib, Rest: 300 * mib, Lower: 90 * mib, Upper: 500 * mib, Rules: &need.Rules{
		Updates: need.Updates{Band: 0.1, After: 12 * time.Hour, Separate: true, InUse: true}, Limits: need.Limits{Memory: need.Multiple, MemoryMultiple: 2}, MaxGrowth: 4,
	}}
	return need.Need{Authored: sizing.Amount{Request: 200 * mib, Limit: 300 * mib}, Recommended: r, Share: share, Bounds: &sizing.Range{}}
}

func TestShared(t *testing.T) {
	one := sizing.Factor{Num: 1, Den: 1}
	t.Run("a request has a share of the rest, and the limit follows what a container gets that does not share", func(t *testing.T) {
		for share, want := range map[float64]int64{0: 100, 0.25: 175, 1: 400} {
			n := shared(share)
			limit := int64(600) // A multiple of 300Mi, or of the request if that is more.
			if want == 400 {
				limit = 800
			}
			if got, _ := n.On(sizing.Memory, one, false); got != (sizing.Amount{Request: want * mib, Limit: limit * mib}) {
				t.Errorf("share %v: %v, want %d and %d MiB", share, sizing.Memory.Show(got), want, limit)
			}
		}
	})
	t.Run("neither the request nor the limit exceeds a multiple of what the author wrote, nor bounds", func(t *testing.T) {
		n := shared(1)
		n.Recommended.Rules.MaxGrowth = 1.5
		if got, _ := n.On(sizing.Memory, one, false); got != (sizing.Amount{Request: 300 * mib, Limit: 450 * mib}) {
			t.Errorf("%v", sizing.Memory.Show(got))
		}
		if wanted, gets, outgrown := n.Outgrown(sizing.Memory, false); wanted != 400*mib || gets != 300*mib || !outgrown {
			t.Errorf("of %d, it gets %d: %t", wanted/mib, gets/mib, outgrown)
		}
		n = shared(0)
		n.Bounds.Min = 150 * mib
		if got, clamped := n.On(sizing.Memory, one, false); got.Request != 150*mib || !clamped {
			t.Errorf("%v", sizing.Memory.Show(got))
		}
	})
	t.Run("what limits a request limits what is shared, too", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			change func(*need.Need)
			share  float64
			want   int64
		}{
			{"nothing", func(*need.Need) {}, 0.5, 250},
			{"what its author wrote", func(n *need.Need) { n.Recommended.Rules.MaxGrowth = 1 }, 0.5, 150},
			{"a largest request", func(n *need.Need) { n.Bounds.Max = 200 * mib }, 0.5, 150},
			{"a smallest request", func(n *need.Need) { n.Bounds.Min = 200 * mib }, 0.5, 300},
			{"the largest node", func(n *need.Need) { n.Largest = 200 * mib }, 0.25, 125},
			{"what was seen to be too small", func(n *need.Need) { n.Recommended.Floor.Request = 200 * mib }, 0.5, 300},
		} {
			n := shared(tc.share)
			tc.change(&n)
			if got, _ := n.On(sizing.Memory, one, false); got.Request != tc.want*mib {
				t.Errorf("%s: %s, want %d MiB", tc.name, sizing.Memory.Show(got), tc.want)
			}
		}
	})
	t.Run("what was seen to be too small is not shared", func(t *testing.T) {
		n := shared(0)
		n.Recommended.Floor.Request = 250 * mib
		if got := n.Request(sizing.Memory, false); got != 250*mib {
			t.Errorf("%d", got/mib)
		}
	})
	t.Run("a size stays while its share moves within the band, and until a while after the last resize", func(t *testing.T) {
		now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
		for _, tc := range []struct {
			name            string
			has, uses, want int64
			ago             time.Duration
		}{
			{"near", 190, 0, 190, 1000 * time.Hour},
			{"far", 250, 0, 175, 1000 * time.Hour},
			{"far, but new", 250, 0, 250, time.Hour},
			{"new, but less than the steady demand", 80, 0, 175, time.Hour},
			{"new, but more than the peak", 600, 0, 175, time.Hour},
			{"far, although this replica once used much more", 250, -1, 175, 1000 * time.Hour},
			{"new, and some more is in use", 200, 210, 200, time.Hour},
			{"new, but much more is in use", 200, 240, 240, time.Hour},
			{"new, and so much is in use that nothing may be lowered", 500, 480, 500, time.Hour},
		} {
			n := shared(0.25)
			s := need.State{Factors: [2]sizing.Factor{one, one}, Uses: max(0, tc.uses) * mib, Now: now}
			if tc.uses < 0 {
				s.Peak = 390 * mib
			}
			s.Needs[sizing.Memory.Index] = n
			s.Size.Memory = sizing.Amount{Request: tc.has * mib, Limit: 600 * mib}
			if tc.has == 600 {
				s.Size.Memory.Limit = 700 * mib
			}
			s.Resized[sizing.Memory.Index] = now.Add(-tc.ago)
			if got := s.Settle().Size.Memory.Request; got != tc.want*mib {
				t.Errorf("%s: %d MiB, want %d", tc.name, got/mib, tc.want)
			}
		}
	})
}
