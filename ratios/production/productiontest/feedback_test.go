package productiontest

import (
	"math"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// contended describes clusters in which work takes 2.5 times as long where others keep the whole node busy, and in
// which nodes are filled by requests. Nodes are about half busy: if a ratio is applied that is 1% larger, nodes of the type
// are busier by half a percent, and their replicas use 0.45% more, so that the type seems slower by that. This is the gain
// of the loop, −0.45, of an estimate that does not know how busy nodes are.
func contended() Settings {
	s := settings()
	s.Packed, s.Slowdown, s.Uneven = true, 0.9, 0
	return s
}

// estimated returns the ratios, by type, after more days.
func estimated(c *Cluster, e *evidence.Evidence, days int) map[string]float64 {
	c.Run(e, days)
	result := map[string]float64{}
	for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
		result[x.NodeType] = x.Cluster.Ratio
	}
	return result
}

// gain returns by how much the estimated ratios change, as a part of the ratios that are applied.
func gain(blind bool) float64 {
	changed, ratios := 0.0, 0.0
	for i := range max(*runs/20, 1) {
		at := func(applied map[string]float64) map[string]float64 {
			c := New(*first+uint64(i), contended())
			// Other tests are about unlike sizes: here, only what is due to contention feeds back.
			c.Alike, c.Blind = true, blind
			if applied != nil {
				c.Apply(applied)
			}
			return estimated(c, evidence.New(), 10)
		}
		before := at(nil)
		after := at(before)
		for name, ratio := range before {
			changed += math.Log(after[name]/ratio) * math.Log(ratio)
			ratios += math.Log(ratio) * math.Log(ratio)
		}
	}
	return changed / ratios
}

func whatIsAppliedHardlyChangesWhatIsEstimated(t *testing.T) {
	blind, sees := gain(true), gain(false)
	t.Logf("gain %.3f, and %.3f if it is not known how busy nodes are", sees, blind)
	if math.Abs(sees) > 0.15 {
		t.Errorf("the gain is %.3f", sees)
	}
	if math.Abs(blind) < 0.3 {
		t.Errorf("the gain is only %.3f if it is not known how busy nodes are: this test shows nothing", blind)
	}
}

func whatIsAppliedConverges(t *testing.T) {
	c := New(*first, contended())
	e := evidence.New()
	applied := estimated(c, e, 14)
	moved := 0.0
	for range 4 {
		c.Apply(applied)
		next := estimated(c, e, 7)
		moved = 0
		for name, ratio := range next {
			moved = max(moved, math.Abs(ratio/applied[name]-1))
		}
		applied = next
		t.Logf("moved by at most %.2f%%", 100*moved)
	}
	check(t, "how far ratios move in the last week", moved, 0, 0.01, 0.005)
	worst := 0.0
	for name, ratio := range applied {
		worst = max(worst, math.Abs(ratio/math.Exp(c.Mean(number(name)))-1))
	}
	t.Logf("off by at most %.2f%%", 100*worst)
	check(t, "the error of what was applied", worst, 0, 0.04, 0.02)
}
