package productiontest

import (
	"math"
	"slices"
	"testing"

	"github.com/workload-resizer/workload-resizer/ratios/production/estimate"
	"github.com/workload-resizer/workload-resizer/ratios/production/evidence"
)

// contended describes clusters in which work takes longer where others keep the whole node busy, by a factor whose logarithm is the slowdown,
// and in which nodes are filled by requests. Nodes are about half busy: if a ratio is applied that is 1% larger, nodes of the type
// are busier by half a percent. Their replicas use more by half a percent of the slowdown, so that the type seems slower by that. So the gain
// of the loop is minus half of the slowdown, if the estimate does not know how busy nodes are.
func contended(slowdown float64) Settings {
	s := settings()
	s.Packed, s.Slowdown, s.Uneven = true, slowdown, 0
	return s
}

const (
	// shared is the slowdown of threads that share cores all the time, and thrashing one by a factor of 2.5: caches and memory are
	// overloaded, too.
	shared, thrashing = 0.5, 0.9
)

// estimated returns the ratios, by type, after more days, and how many of them would be applied.
func estimated(c *Cluster, e *evidence.Evidence, days int) (result map[string]float64, applied int) {
	c.Run(e, days)
	result = map[string]float64{}
	for _, x := range estimate.Estimate(e, c.Baseline(), estimate.Defaults()).Types {
		result[x.NodeType] = x.Cluster.Ratio
		if !slices.ContainsFunc(x.Doubts, func(d estimate.Doubt) bool { return d.Code == estimate.LoadUnknown }) {
			applied++
		}
	}
	return result, applied
}

// gain returns by how much the estimated ratios change, as a part of the ratios that are applied, and how many are not held back because it is not
// known how busy nodes are.
func gain(slowdown float64, blind bool) (gain float64, applied int) {
	changed, ratios := 0.0, 0.0
	for i := range max(*runs/20, 1) {
		at := func(follow map[string]float64) map[string]float64 {
			c := New(*first+uint64(i), contended(slowdown))
			// Other tests are about unlike sizes: here, only what is due to contention feeds back.
			c.Alike, c.Blind = true, blind
			if follow != nil {
				c.Apply(follow)
			}
			result, n := estimated(c, evidence.New(), 10)
			applied += n
			return result
		}
		before := at(nil)
		after := at(before)
		for name, ratio := range before {
			changed += math.Log(after[name]/ratio) * math.Log(ratio)
			ratios += math.Log(ratio) * math.Log(ratio)
		}
	}
	return changed / ratios, applied
}

// whatIsAppliedHardlyChangesWhatIsEstimated checks the loop: the gain is what an estimate that does not know how busy nodes are cannot
// avoid. Where it would matter, such an estimate is held back, so that there is no loop.
func whatIsAppliedHardlyChangesWhatIsEstimated(t *testing.T) {
	for _, slowdown := range []float64{shared, thrashing} {
		sees, applied := gain(slowdown, false)
		t.Logf("slowdown %.1f: gain %.3f", slowdown, sees)
		if math.Abs(sees) > [2]float64{0.15, 0.3}[min(int(slowdown/thrashing), 1)] || applied == 0 {
			t.Errorf("the gain is %.3f with a slowdown of %.1f, of %d ratios", sees, slowdown, applied)
		}
	}
	blind, applied := gain(shared, true)
	t.Logf("gain %.3f if it is not known how busy nodes are: %d ratios are applied", blind, applied)
	if math.Abs(blind) > 0.3 || applied > 0 {
		t.Errorf("the gain is %.3f if it is not known how busy nodes are, and %d ratios are applied", blind, applied)
	}
	if math.Abs(blind) < 0.15 {
		t.Errorf("the gain is only %.3f if it is not known how busy nodes are: this test shows nothing", blind)
	}
}

func whatIsAppliedConverges(t *testing.T) {
	c := New(*first, contended(shared))
	e := evidence.New()
	applied, _ := estimated(c, e, 14)
	moved := 0.0
	for range 4 {
		c.Apply(applied)
		next, _ := estimated(c, e, 7)
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
