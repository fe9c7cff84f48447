package ratios_test

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/policy"
	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/ratiotest"
)

func TestObserved(t *testing.T) {
	written := &ratios.Layer{
		Baseline: "n2d",
		Ratios:   map[string]ratios.Ratio{"n2d": {CPUPerf: 2, MemoryPerf: 1}, "n4": {CPUPerf: 2.5, MemoryPerf: 3}},
		Rules: []ratios.Rule{{Name: "critical", Match: policy.Criteria{Namespace: "critical"}, Ratios: map[string]ratios.Ratio{
			"n4": {CPUPerf: 2.4, MemoryPerf: 1}, "c3": {CPUPerf: 2, MemoryPerf: 1},
		}}},
	}
	shown := &ratios.Layer{RelativeTo: "n2d", Observed: map[string]ratios.Ratio{
		"n2d": {CPUPerf: 7}, "n4": {CPUPerf: 1.3}, "e2": {CPUPerf: 0.9},
	}}
	merged := func(layers ...*ratios.Layer) *ratios.Table {
		table, err := ratios.Merge(layers)
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	without, table := merged(written), merged(written, shown)
	if table.Revision != without.Revision {
		t.Error("ratios that are only shown change the revision")
	}
	if table.Knows("e2") {
		t.Error("a ratio that is only shown makes a node type known")
	}
	for _, of := range []ratiotest.Subject{{In: "default"}, {In: "critical"}} {
		p := table.Profile(of)
		entry, _ := p.Lookup("n4")
		if len(entry.Observed) != 1 || entry.Observed[0].CPUPerf != 2.6 || entry.Observed[0].MemoryPerf != 1 && entry.Observed[0].MemoryPerf != 3 {
			t.Errorf("%s: n4 shows %+v", of.In, entry.Observed)
		}
		if base, _ := p.Lookup("n2d"); len(base.Observed) != 0 {
			t.Errorf("%s: the baseline shows %+v", of.In, base.Observed)
		}
		if before, _ := without.Profile(of).Lookup("n4"); before.Ratio != entry.Ratio || len(before.Candidates) != len(entry.Candidates) {
			t.Errorf("%s: n4 was %+v and is %+v", of.In, before, entry)
		}
	}
}
