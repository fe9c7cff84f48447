package estimate

import (
	"cmp"
	"fmt"
	"slices"
)

// Code is why an estimate is held back.
type Code string

// Why an estimate is held back.
const (
	// TooFewSamples, TooFewMachines and TooFewBenchmarks: there is not enough.
	TooFewSamples    Code = "TooFewSamples"
	TooFewMachines   Code = "TooFewMachines"
	TooFewBenchmarks Code = "TooFewBenchmarks"
	// BenchmarksDisagree: their ratios spread too far.
	BenchmarksDisagree Code = "BenchmarksDisagree"
	// MachinesDisagree: the ends of the confidence interval are as far apart. Of two
	// machines, one that is broken or lies would move the ratio half of its way.
	MachinesDisagree Code = "MachinesDisagree"
	// ModelsDiffer: the machines of the node type have CPUs of different speed;
	// each model may have an estimate of its own.
	ModelsDiffer Code = "ModelsDiffer"
	// BaselineDiffers: the same of the baseline.
	BaselineDiffers Code = "BaselineDiffers"
)

// NotEnough tells that there is too little to say anything, rather than that what
// there is does not agree.
func (c Code) NotEnough() bool {
	return c == TooFewSamples || c == TooFewMachines || c == TooFewBenchmarks
}

// Doubt is why an estimate is held back.
type Doubt struct {
	Code Code
	// Message has the figures, e.g. "2 samples, 3 are needed".
	Message string
}

// benchmarks is how many are needed; a ratio of none does not exist.
func (s *Settings) benchmarks() int { return max(1, s.MinBenchmarks) }

// minima tells what there is too little of. As many benchmarks as are needed must
// each have the samples and machines that are, of the node type and of the
// baseline: a baseline that was measured once makes every ratio as good as that.
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
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s of both %s and %s, %s needed",
			quantity(n, "benchmark", "benchmarks"), of.name, describe(base, base), are(s.benchmarks()))})
	case len(doubts) == 0:
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s with enough samples and machines of both %s and %s, %s needed",
			quantity(countEnough(count), "benchmark", "benchmarks"), of.name, describe(base, base), are(s.benchmarks()))})
	}
	return doubts
}

// nthMost is how many the benchmarks have that come first, as many as are needed.
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

// disagreement tells that what the benchmarks say spreads too far.
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
	return []Doubt{{BenchmarksDisagree, fmt.Sprintf("ratios spread %.2f times, from %.2f (%s) to %.2f (%s), at most %.2f is sound",
		spread, exp(least.ratio()), least.of.benchmark, exp(most.ratio()), most.of.benchmark, s.MaxSpread)}}
}

// uncertainty tells that the confidence interval is too wide.
func uncertainty(low, high float64, s *Settings) []Doubt {
	if low == 0 || !exceeds(high/low, s.MaxSpread) {
		return nil
	}
	return []Doubt{{MachinesDisagree, fmt.Sprintf("the ratio is between %.2f and %.2f, which are %.2f times apart, at most %.2f is sound: some machines are much faster than others",
		low, high, high/low, s.MaxSpread)}}
}

// exceeds tells whether a quotient is above what it may be, and not only by
// rounding.
func exceeds(quotient, most float64) bool { return quotient > most*(1+1e-9) }

// describe names a side of the comparison.
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
