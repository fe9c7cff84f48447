package need_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestFloor(t *testing.T) {
	one, half := sizing.Factor{Num: 1, Den: 1}, sizing.Factor{Num: 1, Den: 2}
	amount := func(request, limit int64) sizing.Amount {
		return sizing.Amount{Request: request * mib, Limit: limit * mib}
	}
	on := func(mode need.LimitMode, authored, floor sizing.Amount, f sizing.Factor, change func(*need.Recommendation)) sizing.Amount {
		rules := &need.Rules{Limits: need.Limits{Memory: mode, MemoryMultiple: 2}, MaxGrowth: 4}
		r := &need.Recommendation{Target: 100 * mib, Floor: floor, Rules: rules}
		if change != nil {
			change(r)
		}
		n := need.Need{Authored: authored, Recommended: r, Bounds: &sizing.Range{}}
		size, _ := n.On(sizing.Memory, f, false)
		return size
	}
	for _, test := range []struct {
		name            string
		mode            need.LimitMode
		authored, floor sizing.Amount
		on              sizing.Factor
		change          func(*need.Recommendation)
		want            sizing.Amount
	}{
		{"without one, a size is as recommended", need.Multiple, amount(500, 1000), amount(0, 0), one, nil, amount(100, 200)},
		{"a limit that is a multiple is not below it, and the request stays", need.Multiple, amount(500, 1000), amount(0, 1200), one, nil, amount(100, 1200)},
		{"one below the multiple changes nothing", need.Multiple, amount(500, 1000), amount(0, 150), one, nil, amount(100, 200)},
		{"it is scaled for the node", need.Multiple, amount(500, 1000), amount(0, 1200), half, nil, amount(50, 600)},
		{"a limit that equals its request raises both", need.Follow, amount(500, 500), amount(0, 1200), one, nil, amount(1200, 1200)},
		{"a limit that follows at twice the request raises the request by half of it", need.Follow, amount(500, 1000), amount(0, 1200), one, nil, amount(600, 1200)},
		{"a limit that stays as authored stays", need.Keep, amount(500, 1000), amount(0, 1200), one, nil, amount(100, 1000)},
		{"no limit is added", need.Multiple, amount(500, 0), amount(0, 1200), one, nil, amount(100, 0)},
		{"a request is not below it", need.Multiple, amount(500, 1000), amount(300, 0), one, nil, amount(300, 600)},
		{"it does not exceed what a container may grow to", need.Multiple, amount(500, 1000), amount(9000, 9000), one, nil, amount(2000, 4000)},
		{"nor does a limit that equals its request", need.Follow, amount(500, 500), amount(0, 9000), one, nil, amount(2000, 2000)},
		{"nor the maximum", need.Follow, amount(500, 500), amount(0, 1200), one, func(r *need.Recommendation) { r.Max = 700 * mib }, amount(700, 700)},
	} {
		if got := on(test.mode, test.authored, test.floor, test.on, test.change); got != test.want {
			t.Errorf("%s: %+v MiB, want %+v", test.name, got, test.want)
		}
	}
	t.Run("kills at ever larger limits lead to no more than a multiple of what was authored", func(t *testing.T) {
		size := amount(500, 500)
		for range 100 { // Each kill proves that the size to which the one before led is too small.
			size = on(need.Follow, amount(500, 500), sizing.Amount{Limit: size.Limit * 12 / 10}, one, nil)
		}
		if size != amount(2000, 2000) {
			t.Errorf("%+v", size)
		}
	})
}
