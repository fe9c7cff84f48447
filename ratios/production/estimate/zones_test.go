package estimate

import (
	"math"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// inThreeZones returns the chain in zones of which the last does not have e2, the baseline. There, a type is faster by a factor.
func inThreeZones(kinds []string, fast string, faster float64) *evidence.Evidence {
	e := chain(200)
	e.Zones = []string{"a", "b", "c"}
	for i := 3; i < len(kinds); i++ {
		e.Types = append(e.Types, kinds[i])
		e.Slowdown = append(e.Slowdown, evidence.Slowdown{})
		for j := range 20 {
			n := *e.Nodes[2]
			n.Type = i
			e.Nodes[evidence.Key(100*i+j)] = &n
		}
		for j := range 50 {
			e.Workloads[evidence.Key(1000*i+j)] = using(1, cell(1, i, math.Log(1.2)+0.05*math.Sin(float64(j*j))))
		}
	}
	for i, n := range e.Nodes {
		n.Zone = int(i) / 3 % 3
	}
	place := func(a, b, zone int, mean float64) {
		d := evidence.Deviation{Weight: 1e6, Sum: 1e6 * mean}
		e.Places = append(e.Places, evidence.Place{A: a, B: b, Zone: zone, Halves: [2]evidence.Deviation{d, d}})
	}
	own := func(kind, zone int) float64 { // The mean of zones is 0.
		if kinds[kind] == fast {
			return []float64{1, 1, -2}[zone] * math.Log(faster) / 3
		}
		return 0
	}
	for zone := range e.Zones {
		for b := 1; b < len(kinds); b++ {
			a := min(b-1, 1)
			if a > 0 || zone < 2 {
				place(a, b, zone, own(b, zone)-own(a, zone))
			}
		}
	}
	return e
}

func TestZonesWithoutTheBaseline(t *testing.T) {
	for _, tc := range []struct {
		name    string
		kinds   []string
		faster  float64
		doubted []string
	}{
		{"no difference", []string{"e2", "n2d", "n4"}, 1, nil},
		{"two types, of which nothing shows which one differs", []string{"e2", "n2d", "n4"}, 1.35, []string{"n2d", "n4"}},
		{"one differs from all others", []string{"e2", "n2d", "n4", "c3", "c4"}, 1.35, []string{"n4"}},
	} {
		e := inThreeZones(tc.kinds, "n4", tc.faster)
		for _, x := range Estimate(e, "e2", Defaults()).Types {
			if got, want := slices.Contains(codes(x), ZonesDiffer), slices.Contains(tc.doubted, x.NodeType); got != want {
				t.Errorf("%s: %s: %+v", tc.name, x.NodeType, x.Doubts)
			}
		}
	}
}

// TestZonesOfOneWorkload checks that half of the workloads does not make a difference certain in a zone without the baseline either.
func TestZonesOfOneWorkload(t *testing.T) {
	e := inThreeZones([]string{"e2", "n2d", "n4"}, "n4", 1.35)
	for i := range e.Places {
		p := &e.Places[i]
		p.Halves[0].Sum, p.Halves[1].Sum = 0, 2*p.Halves[1].Sum
	}
	for _, x := range Estimate(e, "e2", Defaults()).Types {
		if slices.Contains(codes(x), ZonesDiffer) {
			t.Errorf("%+v", x)
		}
	}
}
