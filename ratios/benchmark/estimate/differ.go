package estimate

import "fmt"

// compareTo tells what the machines with the model come to.
func (m model) compareTo(base *pool, s *Settings) Model {
	return Model{CPUModel: m.label, Ratio: mean(counting(compare(m.pool, base, s))), Machines: m.machines}
}

// compareModels does so for all models of a family, by name, those whose model is
// unknown first.
func (f *family) compareModels(base *pool, s *Settings) []Model {
	var models []Model
	if f.unknown != nil {
		models = append(models, f.unknown.compareTo(base, s))
	}
	for _, m := range f.named {
		models = append(models, m.compareTo(base, s))
	}
	return models
}

// modelDoubts tells whether the CPU models of a family differ too much. They are
// compared with each other, by the benchmarks that both have: one that was run
// with one benchmark only is not said to differ from one that was run with
// another. How often each machine was measured does not matter: there is doubt already.
func modelDoubts(code Code, f *family, base *pool, s *Settings) []Doubt {
	most := 1.0
	var fast, slow model
	for i, a := range f.named {
		for _, b := range f.named[:i] {
			if !a.credible || !b.credible {
				continue
			}
			r := mean(counting(compare(a.pool, b.pool, s)))
			if r == 0 {
				continue // They share no benchmark.
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
	return []Doubt{{code, fmt.Sprintf("CPU models of %s differ: %s is %.2f times as fast as %s (ratios %s and %s), at most %.2f is sound",
		describe(f.all, base), fast.label, most, slow.label,
		formatRatio(fast.compareTo(base, s).Ratio), formatRatio(slow.compareTo(base, s).Ratio), s.MaxModelSpread)}}
}

// formatRatio is for people; a model that shares no benchmark with the baseline
// has none.
func formatRatio(ratio float64) string {
	if ratio == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", ratio)
}
