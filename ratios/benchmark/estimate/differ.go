package estimate

import (
	"fmt"
	"math"
)

// compareTo compares the machines with the model to the baseline.
func (m model) compareTo(base *pool, c *Cluster, s *Settings) Model {
	parts := pairOf(m.pool, base, c, s).compare()
	onlyBest(parts, s)
	return Model{CPUModel: m.label, Ratio: mean(counting(parts)), Machines: m.machines}
}

// compareModels compares all models of a family to the baseline, by name. Machines whose model
// is unknown come first.
func (f *family) compareModels(base *pool, c *Cluster, s *Settings) []Model {
	var models []Model
	if f.unknown != nil {
		models = append(models, f.unknown.compareTo(base, c, s))
	}
	for _, m := range f.named {
		models = append(models, m.compareTo(base, c, s))
	}
	return models
}

// modelDoubts returns a doubt if the CPU models of a family differ too much. Models are
// compared with each other by the benchmarks that both have: models that ran different
// benchmarks do not count as different. How often each machine was measured does not matter: a
// difference is sufficient for doubt.
func modelDoubts(code Code, f *family, base *pool, c *Cluster, s *Settings) []Doubt {
	most := 1.0
	var fast, slow model
	for i, a := range f.named {
		for _, b := range f.named[:i] {
			if !a.credible || !b.credible {
				continue
			}
			r := mean(counting(pairOf(a.pool, b.pool, c, s).compare()))
			if r == 0 {
				continue // They have no benchmark in common.
			}
			if r > most {
				most, fast, slow = r, a, b
			}
			if 1/r > most {
				most, fast, slow = 1/r, b, a
			}
		}
	}
	if !exceeds(most, s.MaxModelSpread) {
		return nil
	}
	return []Doubt{{code, fmt.Sprintf("CPU models of %s differ: %s is %.2f times as fast as %s (ratios %s and %s), at most %.2f is allowed",
		describe(f.all, base), fast.label, math.Ceil(100*most-1e-9)/100, slow.label, // Rounded up, as it is more than is allowed.
		formatRatio(fast.compareTo(base, c, s).Ratio), formatRatio(slow.compareTo(base, c, s).Ratio), s.MaxModelSpread)}}
}

// formatRatio formats a ratio for messages. A model that has no benchmark in common with the
// baseline has no ratio.
func formatRatio(ratio float64) string {
	if ratio == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", ratio)
}
