package need_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/need"
	"github.com/workload-resizer/workload-resizer/reconciler/sizing"
)

func TestLimits(t *testing.T) {
	written := authored{Request: amounts{500, 1000 * mib}, Limit: amounts{2000, 1500 * mib}}
	for _, test := range []struct {
		name     string
		limits   need.Limits
		authored authored
		request  amounts
		want     amounts
	}{
		{"follow the author's proportion", need.Limits{}, written, amounts{1000, 2000 * mib}, amounts{4000, 3000 * mib}},
		{"keep the author's", need.Limits{CPU: need.Keep, Memory: need.Keep}, written, amounts{1000, 1200 * mib}, amounts{2000, 1500 * mib}},
		{"keep the author's unless the request exceeds them", need.Limits{CPU: need.Keep, Memory: need.Keep}, written, amounts{3000, 1600 * mib}, amounts{3000, 1600 * mib}},
		{"may be removed from CPU, not from memory", need.Limits{CPU: need.None, Memory: need.None}, written, amounts{100, 100 * mib}, amounts{0, 1500 * mib}},
		{"are a multiple of the memory request", need.Limits{Memory: need.Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 * mib}, written, amounts{100, 1000 * mib}, amounts{400, 2000 * mib}},
		{"leave headroom to small requests", need.Limits{Memory: need.Multiple, MemoryMultiple: 2, MemoryHeadroom: 250 * mib}, written, amounts{100, 100 * mib}, amounts{400, 350 * mib}},
		{"are never below the request", need.Limits{Memory: need.Multiple, MemoryMultiple: 0.5}, written, amounts{100, 100 * mib}, amounts{400, 100 * mib}},
		{"do not exist without the author's", need.Limits{Memory: need.Multiple, MemoryMultiple: 2}, authored{Request: written.Request}, amounts{100, 100 * mib}, amounts{}},
		{"of an author without requests stay", need.Limits{}, authored{Limit: written.Limit}, amounts{100, 100 * mib}, written.Limit},
		{"of Guaranteed pods equal the requests", need.Limits{CPU: need.None, Memory: need.Multiple, MemoryMultiple: 2}, authored{Request: written.Request, Limit: written.Request, Guaranteed: true}, amounts{123, 456 * mib}, amounts{123, 456 * mib}},
		{"of Guaranteed pods equal the requests, however large", need.Limits{}, authored{Request: amounts{1, 73072303604883308}, Limit: amounts{1, 73072303604883308}, Guaranteed: true}, amounts{21, 73072303604883308}, amounts{21, 73072303604883308}},
	} {
		t.Run(test.name, func(t *testing.T) {
			wrote := size(test.authored.Request, test.authored.Limit)
			got := amounts{
				CPU:    test.limits.For(sizing.CPU, test.request.CPU, wrote.CPU, test.authored.Guaranteed),
				Memory: test.limits.For(sizing.Memory, test.request.Memory, wrote.Memory, test.authored.Guaranteed),
			}
			if got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
