package need_test

import (
	"testing"
	"time"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// byHighest are options with a limit of twice the highest usage.
func byHighest() recommend.Options {
	o := recommend.DefaultOptions()
	o.Limits.Memory, o.Limits.MemoryHeadroom = need.Peak, 0
	return o
}

func TestLimitByHighestUsage(t *testing.T) {
	one, half := sizing.Factor{Num: 1, Den: 1}, sizing.Factor{Num: 1, Den: 2}
	amount := func(request, limit int64) sizing.Amount {
		return sizing.Amount{Request: request * mib, Limit: limit * mib}
	}
	of := func(authored sizing.Amount, peak, floor int64, growth float64) *need.Need {
		rules := &need.Rules{Limits: byHighest().Limits, MaxGrowth: growth}
		r := &need.Recommendation{Target: 100 * mib, Peak: peak * mib, Floor: sizing.Amount{Limit: floor * mib}, Rules: rules}
		return &need.Need{Authored: authored, Recommended: r, Bounds: &sizing.Range{}}
	}
	for _, test := range []struct {
		name        string
		authored    sizing.Amount
		peak, floor int64
		on          sizing.Factor
		guaranteed  bool
		want        sizing.Amount
	}{
		{"is twice the usage", amount(500, 1000), 400, 0, one, false, amount(100, 800)},
		{"is scaled for the node", amount(500, 1000), 400, 0, half, false, amount(50, 400)},
		{"is the author's while the usage is not known", amount(500, 1000), 0, 0, one, false, amount(100, 1000)},
		{"is the author's on the node while the usage is not known", amount(500, 1000), 0, 0, half, false, amount(50, 500)},
		{"is not below the request", amount(500, 1000), 20, 0, one, false, amount(100, 101)},
		{"is not below what was seen to be too small", amount(500, 1000), 400, 1200, one, false, amount(100, 1200)},
		{"does not exist without the author's", amount(500, 0), 400, 1200, one, false, amount(100, 0)},
		{"is a multiple of what the author wrote at most", amount(500, 1000), 9000, 9000, one, false, amount(100, 4000)},
		{"is that multiple on the node at most", amount(500, 1000), 9000, 9000, half, false, amount(50, 2000)},
		{"is the request in Guaranteed pods", amount(500, 500), 400, 0, one, true, amount(100, 100)},
	} {
		if got, _ := of(test.authored, test.peak, test.floor, 4).On(sizing.Memory, test.on, test.guaranteed); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	t.Run("a kill that follows a kill does not grow without end", func(t *testing.T) {
		size := amount(500, 1000)
		for i := range 100 { // Each container reaches the limit to which the kill before led.
			before := size
			size, _ = of(amount(500, 1000), size.Limit/mib, size.Limit/mib*12/10, 4).On(sizing.Memory, one, false)
			if i > 0 && size.Limit > before.Limit && size.Limit > 4000*mib {
				t.Fatalf("kill %d: %+v", i, size)
			}
		}
		if size != amount(100, 4000) {
			t.Errorf("%+v", size)
		}
	})
	t.Run("may have been any up to the most, since a peak is forgotten", func(t *testing.T) {
		n := of(amount(500, 1000), 400, 0, 4)
		for _, test := range []struct {
			size       sizing.Amount
			on         sizing.Factor
			guaranteed bool
			want       bool
		}{
			{amount(100, 800), one, false, true},
			{amount(100, 4000), one, false, true},
			{sizing.Amount{Request: 100 * mib, Limit: 4000*mib + 1}, one, false, false},
			{amount(50, 2000), half, false, true},
			{sizing.Amount{Request: 50 * mib, Limit: 2000*mib + 1}, half, false, false},
			{amount(5000, 5001), one, false, true},
			{amount(100, 4000), one, true, false},
		} {
			if got := n.MayHave(sizing.Memory, test.size, test.on, test.guaranteed); got != test.want {
				t.Errorf("%+v with the factor %+v: %v", test.size, test.on, got)
			}
		}
		n.Recommended.Rules = &need.Rules{Limits: byHighest().Limits}
		if !n.MayHave(sizing.Memory, amount(100, 9000), one, false) {
			t.Error("without a growth limit, no limit is too high")
		}
	})
}

func TestSettleLimitByHighestUsage(t *testing.T) {
	now := began.Add(100 * day)
	known := recommend.Known{Age: 8 * day, Coverage: 1}
	for _, test := range []struct {
		name string
		// has is the present limit, and was how long ago it or the request changed.
		has    int64
		was    time.Duration
		change func(*recommend.Options, *recommend.Recommendation, *pod)
		// request and limit are those that follow.
		request, limit int64
	}{
		{"stays on target", 1800, 0, nil, 1000, 1800},
		{"is raised even if the request stays", 1000, 0, nil, 1000, 1800},
		{"is raised if a tenth is missing", 1636, 0, nil, 1000, 1800},
		{"stays while less is missing, so that a rising peak does not resize at each step", 1637, 0, nil, 1000, 1637},
		{"is raised without known peaks", 1000, 0, func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.PeaksKnown = recommend.Known{} }, 1000, 1800},
		{"stays if it is too high for a request that stays", 3000, 72 * time.Hour, nil, 1000, 3000},
		{"is lowered with the request after 3 days", 3000, 72 * time.Hour, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.Request.Memory = 2000 * mib }, 1000, 1800},
		{"is not lowered earlier", 3000, 72*time.Hour - 1, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.Request.Memory = 2000 * mib }, 1000, 3000},
		{"is not lowered without known peaks", 3000, 72 * time.Hour, func(_ *recommend.Options, r *recommend.Recommendation, p *pod) {
			r.PeaksKnown, p.Request.Memory = recommend.Known{}, 2000*mib
		}, 1000, 3000},
		{"is not lowered to less than is charged", 3000, 72 * time.Hour, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Request.Memory, p.MemoryCharged = 2000*mib, 2000*mib
		}, 1000, 2200},
		{"is not lowered while a process knows it", 3000, 72 * time.Hour, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.KnowsLimit, p.Request.Memory = true, 2000*mib
		}, 1000, 3000},
		{"is raised immediately if it is nearly in use", 1800, 0, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) { p.MemoryInUse = 1720 * mib }, 1720, 3440},
		{"is raised immediately by less than a tenth, up to the most", 3900, 0, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.MemoryInUse, p.Request.Memory = 3800*mib, 3800*mib
		}, 3800, 4000},
		{"is not the usage itself where the multiple is 1", 1800, 0, func(o *recommend.Options, _ *recommend.Recommendation, p *pod) {
			o.Limits.MemoryMultiple, p.MemoryInUse = 1, 1750*mib
		}, 1750, 2100},
		{"is not added", 0, 0, func(_ *recommend.Options, _ *recommend.Recommendation, p *pod) {
			p.Authored.Limit.Memory, p.MemoryInUse = 0, 1000*mib
		}, 1000, 0},
		{"is no less than what was too small", 1800, 0, func(_ *recommend.Options, r *recommend.Recommendation, _ *pod) { r.Floors.Limit.Memory = 2400 * mib }, 1000, 2400},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := byHighest()
			r := recommend.Recommendation{
				Target: recommend.Amounts{CPU: 500, Memory: 1000 * mib}, Lower: recommend.Amounts{CPU: 400, Memory: 800 * mib}, Upper: recommend.Amounts{CPU: 600, Memory: 1200 * mib},
				Peak: 900 * mib, CPUKnown: known, MemoryKnown: known, PeaksKnown: known,
			}
			p := pod{
				Request: amounts{500, 1000 * mib}, Limit: amounts{500, test.has * mib}, Authored: authored{Request: amounts{500, 1000 * mib}, Limit: amounts{500, 1000 * mib}},
				ResizedCPU: now.Add(-100 * day), ResizedMemory: now.Add(-test.was),
			}
			if test.change != nil {
				test.change(&o, &r, &p)
			}
			s := p.state(&o, &r, now)
			if got := s.Settle().Size.Memory; got.Request/mib != test.request || got.Limit/mib != test.limit {
				t.Errorf("request %d MiB, limit %d MiB, want %d and %d MiB", got.Request/mib, got.Limit/mib, test.request, test.limit)
			}
		})
	}
}
