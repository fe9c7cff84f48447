package estimate

import (
	"cmp"
	"fmt"
	"slices"
)

// Code is why an estimate is held back.
type Code string

// The reasons why an estimate is held back.
const (
	// TooFewSamples, TooFewMachines and TooFewBenchmarks mean that the estimate does
	// not have enough of them.
	TooFewSamples    Code = "TooFewSamples"
	TooFewMachines   Code = "TooFewMachines"
	TooFewBenchmarks Code = "TooFewBenchmarks"
	// BenchmarksDisagree means that the ratios of the benchmarks differ too much.
	BenchmarksDisagree Code = "BenchmarksDisagree"
	// MachinesDisagree means that the ends of the confidence interval differ too
	// much. With two machines, one that is broken or lies would move the ratio by
	// half of the difference.
	MachinesDisagree Code = "MachinesDisagree"
	// ModelsDiffer means that the machines of the node type have CPUs of different
	// speed. Each model may have its own estimate.
	ModelsDiffer Code = "ModelsDiffer"
	// BaselineDiffers means the same for the machines of the baseline.
	BaselineDiffers Code = "BaselineDiffers"
)

// NotEnough reports whether the code stands for too few measurements, rather than for
// measurements that disagree.
func (c Code) NotEnough() bool {
	return c == TooFewSamples || c == TooFewMachines || c == TooFewBenchmarks
}

// Doubt is why an estimate is held back.
type Doubt struct {
	Code Code
	// Message has the figures, e.g. "2 samples, 3 are needed".
	Message string
}

// benchmarks returns how many benchmarks are needed; a ratio needs at least one.
func (s *Settings) benchmarks() int { return max(1, s.MinBenchmarks) }

// minima returns doubts if there are too few measurements. The needed number of benchmarks
// must each have the needed samples and machines, of the node type and of the baseline: with a
// baseline that was measured only once, no ratio is reliable.
func minima(of, base *pool, count []pair, s *Settings) []Doubt {
	if countEnough(count) >= s.benchmarks() {
		return nil
	}
	var doubts []Doubt
	for _, m := range []struct {
		code           Code
		of, base       func(*pair) int
		least          int
		single, plural string
	}{
		{TooFewSamples, func(p *pair) int { return p.of.samples }, func(p *pair) int { return p.base.samples },
			s.MinSamples, "sample", "samples"},
		{TooFewMachines, func(p *pair) int { return p.of.machines }, func(p *pair) int { return p.base.machines },
			s.MinMachines, "machine", "machines"},
	} {
		for _, side := range []struct {
			*pool
			count func(*pair) int
		}{{of, m.of}, {base, m.base}} {
			n := s.nthMost(count, side.count)
			if len(count) > 0 && n < m.least {
				doubts = append(doubts, Doubt{m.code, fmt.Sprintf("%s per benchmark of %s, %s needed",
					quantity(n, m.single, m.plural), describe(side.pool, base), are(m.least))})
			}
		}
	}
	switch n := len(count); {
	case len(base.series) == 0:
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s was not measured", describe(base, base))})
	case n < s.benchmarks():
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s for both %s and %s, %s needed",
			quantity(n, "benchmark", "benchmarks"), of.name, describe(base, base), are(s.benchmarks()))})
	case len(doubts) == 0:
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s with enough samples and machines for both %s and %s, %s needed",
			quantity(countEnough(count), "benchmark", "benchmarks"), of.name, describe(base, base), are(s.benchmarks()))})
	}
	return doubts
}

// nthMost returns the minimum count among the benchmarks with the highest counts, taking as
// many benchmarks as are needed.
func (s *Settings) nthMost(pairs []pair, count func(*pair) int) int {
	if len(pairs) == 0 {
		return 0
	}
	counts := make([]int, len(pairs))
	for i := range pairs {
		counts[i] = -count(&pairs[i])
	}
	slices.Sort(counts)
	return -counts[min(s.benchmarks(), len(counts))-1]
}

// disagreement returns a doubt if the ratios of the benchmarks differ too much.
func disagreement(count []pair, s *Settings) []Doubt {
	if len(count) == 0 {
		return nil
	}
	byRatio := func(a, b pair) int { return cmp.Compare(a.ratio(), b.ratio()) }
	least, most := slices.MinFunc(count, byRatio), slices.MaxFunc(count, byRatio)
	spread := exp(most.ratio() - least.ratio())
	if !exceeds(spread, s.MaxSpread) {
		return nil
	}
	return []Doubt{{BenchmarksDisagree, fmt.Sprintf("ratios differ by a factor of %.2f, from %.2f (%s) to %.2f (%s), at most %.2f is allowed",
		spread, exp(least.ratio()), least.of.benchmark, exp(most.ratio()), most.of.benchmark, s.MaxSpread)}}
}

// uncertainty returns a doubt if the confidence interval is too wide.
func uncertainty(low, high float64, s *Settings) []Doubt {
	if low == 0 || !exceeds(high/low, s.MaxSpread) {
		return nil
	}
	return []Doubt{{MachinesDisagree, fmt.Sprintf("the ratio is between %.2f and %.2f, a factor of %.2f, at most %.2f is allowed: some machines are much faster than others",
		low, high, high/low, s.MaxSpread)}}
}

// exceeds reports whether a factor is above the maximum, and not only because of rounding.
func exceeds(quotient, most float64) bool { return quotient > most*(1+1e-9) }

// describe returns the name of one side of the comparison.
func describe(p, base *pool) string {
	if p == base {
		return "baseline " + p.name
	}
	return p.name
}

func quantity(n int, single, plural string) string {
	if n == 1 {
		return "1 " + single
	}
	return fmt.Sprintf("%d %s", n, plural)
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return fmt.Sprintf("%d are", n)
}
