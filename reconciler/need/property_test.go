package need_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// amountUpTo returns an amount of any magnitude.
func amountUpTo(r *rand.Rand, most int64) int64 { return 1 + r.Int64N(most)>>r.IntN(12) }

func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// arbitraryState returns a container in any state that it may be in.
func arbitraryState(r *rand.Rand, now time.Time) *need.State {
	o := recommend.DefaultOptions()
	o.Limits.Memory = [...]need.LimitMode{need.Follow, need.Keep, need.Multiple, need.Peak}[r.IntN(4)]
	o.Limits.CPU = [...]need.LimitMode{need.Follow, need.Keep, need.None}[r.IntN(3)]
	if o.Limits.Memory == need.Follow {
		follow := recommend.FollowOptions()
		follow.Limits.CPU, o = o.Limits.CPU, follow
	}
	if oneIn(r, 3) {
		o.MaxGrowth = []float64{0, 1, 1.5, 2}[r.IntN(4)]
	}
	s := &need.State{Guaranteed: oneIn(r, 4), KnowsLimit: oneIn(r, 6), Unsized: [2]bool{oneIn(r, 6), oneIn(r, 6)}, Now: now}
	most := [2]int64{8000, 16 << 30}
	for _, m := range sizing.Measures {
		n, mostOf := &s.Needs[m.Index], most[m.Index]
		s.Factors[m.Index] = sizing.Factor{Num: uint64(1 + r.IntN(4)), Den: uint64(1 + r.IntN(4))}
		n.Authored.Request = amountUpTo(r, mostOf)
		switch {
		case s.Guaranteed || oneIn(r, 4):
			n.Authored.Limit = n.Authored.Request
		case !oneIn(r, 4):
			n.Authored.Limit = n.Authored.Request + amountUpTo(r, mostOf)
		}
		bounds := &sizing.Range{}
		if oneIn(r, 4) {
			bounds.Max = amountUpTo(r, mostOf)
		}
		if oneIn(r, 6) {
			if bounds.Min = amountUpTo(r, mostOf); bounds.Max > 0 {
				bounds.Min = min(bounds.Min, bounds.Max)
			}
		}
		n.Bounds = bounds
		has := m.Of(&s.Size)
		*has, _ = m.Scale(n.Authored, s.Factors[m.Index], sizing.Range{})
		if !s.Unsized[m.Index] && !oneIn(r, 3) {
			has.Request = amountUpTo(r, mostOf)
			switch {
			case s.Guaranteed:
				has.Limit = has.Request
			case n.Authored.Limit > n.Authored.Request:
				has.Limit = has.Request + amountUpTo(r, mostOf) + m.Unit
			case n.Authored.Limit > 0:
				has.Limit = has.Request + amountUpTo(r, mostOf)*r.Int64N(2)
			}
		}
		if s.Unsized[m.Index] {
			*has = n.Authored
		}
		if oneIn(r, 8) {
			continue
		}
		target := amountUpTo(r, mostOf)
		rec := &need.Recommendation{Target: target, Lower: target - r.Int64N(target), Upper: target + r.Int64N(target), Rules: &o.Rules}
		if oneIn(r, 4) {
			rec.Max = target + r.Int64N(2)*amountUpTo(r, mostOf)
		}
		if oneIn(r, 4) {
			rec.Floor.Request = amountUpTo(r, mostOf)
		}
		if oneIn(r, 4) {
			rec.Floor.Limit = amountUpTo(r, mostOf)
		}
		if oneIn(r, 3) {
			rec.Keeps = "too little is known"
		}
		if oneIn(r, 3) {
			rec.KeepsLimit = "too little is known"
		}
		if m == sizing.Memory && o.Limits.Memory == need.Peak && !oneIn(r, 4) {
			rec.Peak = amountUpTo(r, mostOf)
		}
		n.Recommended = rec
		s.Resized[m.Index] = now.Add(-time.Duration(r.Int64N(int64(100 * time.Hour))))
	}
	if has := s.Size.Memory; !oneIn(r, 3) {
		s.Uses = 1 + r.Int64N(max(has.Limit, has.Request))
		if !oneIn(r, 3) {
			s.Charged = s.Uses + r.Int64N(max(has.Limit, has.Request)+1)
		}
	}
	if oneIn(r, 3) {
		s.Peak = amountUpTo(r, most[1])
	}
	if oneIn(r, 5) {
		s.Killed, s.Ran = now.Add(-time.Minute), time.Duration(r.IntN(1000))*time.Second
	}
	return s
}

// broken returns which rule a settled size breaks; empty if it breaks none.
func broken(s *need.State, got need.Settled) string {
	for _, m := range sizing.Measures {
		n, f, has, to := &s.Needs[m.Index], s.Factors[m.Index], *m.Of(&s.Size), *m.Of(&got.Size)
		on := func(amount int64) int64 {
			size, _ := m.Scale(sizing.Amount{Request: amount}, f, sizing.Range{})
			return size.Request
		}
		r := n.Recommended
		if r == nil {
			if to != has {
				return m.Name + " without a recommendation changes"
			}
			continue
		}
		if to == has {
			continue
		}
		bounded := n.Bounds.Max > 0 && to.Request == n.Bounds.Max
		raised := n.Bounds.Min > 0 && to.Request == n.Bounds.Min
		if to.Limit != 0 && to.Limit < to.Request {
			return m.Name + ": the limit is below the request"
		}
		if (to.Limit == 0) != (n.Authored.Limit == 0) {
			return m.Name + ": a limit is added or removed"
		}
		if s.Guaranteed && to.Limit != to.Request {
			return m.Name + ": the class changes"
		}
		if n.Authored.Limit > n.Authored.Request && to.Limit <= to.Request {
			return m.Name + ": the limit becomes the request"
		}
		if growth := r.Rules.MaxGrowth; growth > 0 {
			if most := on(int64(float64(n.Authored.Request) * growth)); to.Request > max(most, has.Request) && !raised {
				return m.Name + ": the request grows too much"
			}
			if most := on(int64(float64(n.Authored.Limit) * growth)); to.Limit > max(most, has.Limit, to.Request+m.Unit) {
				return m.Name + ": the limit grows too much"
			}
		}
		kept := has.Request
		if s.Unsized[m.Index] {
			kept = min(kept, on(n.Authored.Request))
		}
		if r.Keeps != "" && to.Request < kept && !bounded {
			return m.Name + ": the request is lowered although too little is known"
		}
		if to.Request > has.Request && to.Limit < has.Limit && !s.Unsized[m.Index] && !s.Guaranteed && m == sizing.CPU && r.Keeps != "" {
			return m.Name + ": the limit is lowered although too little is known"
		}
		if m == sizing.CPU {
			continue
		}
		limitsStay := !bounded || !s.Guaranteed
		if to.Request < min(has.Request, s.Uses) && !bounded {
			return "the memory request is below what is in use"
		}
		if to.Request < min(has.Request, s.Peak) && !bounded {
			return "the memory request is below the peak of the replica"
		}
		if to.Limit < min(has.Limit, max(s.Uses, s.Charged)) && limitsStay {
			return "the memory limit is below what is charged"
		}
		if to.Limit < min(has.Limit, s.Peak) && limitsStay {
			return "the memory limit is below the peak of the replica"
		}
		if (s.KnowsLimit || r.KeepsLimit != "") && to.Limit < has.Limit && !s.Unsized[m.Index] && limitsStay {
			return "the memory limit is lowered although it must stay"
		}
	}
	return ""
}

// TestSettleAnyState lets containers in any state settle again and again. No rule may be broken on the way, and sizes
// must not change forever while what is needed stays.
func TestSettleAnyState(t *testing.T) {
	for seed := range uint64(50_000) {
		r := rand.New(rand.NewPCG(seed, 36))
		now := began
		s := arbitraryState(r, now)
		show := func() string {
			text := fmt.Sprintf("seed %d: %+v", seed, *s)
			for _, m := range sizing.Measures {
				if n := &s.Needs[m.Index]; n.Recommended != nil {
					text += fmt.Sprintf("\n%s bounds %+v recommended %+v rules %+v", m.Name, *n.Bounds, *n.Recommended, *n.Recommended.Rules)
				}
			}
			return text
		}
		still := 0
		for step := 0; still < 12; step++ {
			got := s.Settle()
			if why := broken(s, got); why != "" {
				t.Fatalf("%s: step %d: %+v\n%s", why, step, got, show())
			}
			if step > 40 {
				t.Fatalf("the size keeps changing: %+v\n%s", got, show())
			}
			still++
			for _, m := range sizing.Measures {
				if *m.Of(&got.Size) != *m.Of(&s.Size) {
					s.Resized[m.Index], s.Unsized, still = s.Now, [2]bool{}, 0
				}
			}
			s.Size = got.Size
			s.Now = s.Now.Add(13 * time.Hour)
		}
	}
}
