package estimate

import (
	"fmt"
	"math"
	"slices"
)

// Code is why an estimate is held back.
type Code string

// The reasons why an estimate is held back.
const (
	// TooFewSamples means that a benchmark has too few samples, of the node type or of the baseline.
	TooFewSamples Code = "TooFewSamples"
	// TooFewMachines means that the samples are from too few machines.
	TooFewMachines Code = "TooFewMachines"
	// TooFewBenchmarks means that too few benchmarks were run on both, with enough samples and machines, or at comparable
	// sizes.
	TooFewBenchmarks Code = "TooFewBenchmarks"
	// IntervalTooWide means that the half-width of the confidence interval is above the
	// tolerance, or may be: few benchmarks may agree by chance.
	IntervalTooWide Code = "IntervalTooWide"
	// LoadUnknown means that the machines have different threads per core, and `loads` does not say how busy sibling
	// threads are.
	LoadUnknown Code = "LoadUnknown"
	// ModelsDiffer means that the CPU models of the node type differ by more than 10%. Each may have its own suggestion.
	ModelsDiffer Code = "ModelsDiffer"
	// BaselineDiffers means that the CPU models of the baseline do.
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
func minima(of, base *pool, count []part, s *Settings) []Doubt {
	if countEnough(count) >= s.benchmarks() {
		return nil
	}
	var doubts []Doubt
	for _, m := range []struct {
		code           Code
		of, base       func(*part) int
		least          int
		single, plural string
	}{
		{TooFewSamples, func(p *part) int { return p.samples }, func(p *part) int { return p.baseSamples },
			s.MinSamples, "sample", "samples"},
		{TooFewMachines, func(p *part) int { return p.machines }, func(p *part) int { return p.baseMachines },
			s.MinMachines, "machine", "machines"},
	} {
		for _, side := range []struct {
			*pool
			count func(*part) int
		}{{of, m.of}, {base, m.base}} {
			n := s.nthMost(count, side.count)
			if len(count) > 0 && count[0].own && n < m.least {
				doubts = append(doubts, Doubt{m.code, fmt.Sprintf("%s per benchmark of %s, %s needed",
					quantity(n, m.single, m.plural), describe(side.pool, base), are(m.least))})
			}
		}
	}
	switch n := len(count); {
	case n == 0 && apart(of, base):
		doubts = append(doubts, Doubt{TooFewBenchmarks, fmt.Sprintf("%s and %s were measured at sizes that are too different to be compared",
			of.name, describe(base, base))})
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
func (s *Settings) nthMost(parts []part, count func(*part) int) int {
	if len(parts) == 0 {
		return 0
	}
	counts := make([]int, len(parts))
	for i := range parts {
		counts[i] = -count(&parts[i])
	}
	slices.Sort(counts)
	return -counts[min(s.benchmarks(), len(counts))-1]
}

// apart reports whether two pools have a benchmark in common. Without a part, their sizes differ.
func apart(of, base *pool) bool {
	have := base.tests()
	return slices.ContainsFunc(tests(of.series), func(t test) bool { return len(have[t]) > 0 })
}

// uncertainty returns a doubt if the confidence interval is too wide.
func uncertainty(e *Estimate, s *Settings) []Doubt {
	if e.Interval == nil {
		return nil
	}
	tolerance, of := s.TolerancePublished, "published scores; more benchmarks narrow the interval"
	if e.Own {
		tolerance, of = s.ToleranceMeasured, "measurements of nodes"
	}
	half := exp(e.certain) - 1
	if !exceeds(1+half, 1+tolerance) {
		return nil
	}
	return []Doubt{{IntervalTooWide, fmt.Sprintf("the ratio is between %s and %s, and because few benchmarks may agree by chance%s, %s; at most ±%.1f%% is allowed for %s",
		figure(e.Interval.Low), figure(e.Interval.High), disturbed(e), certainty(half), 100*tolerance, of)}}
}

// certainty describes a half-width, rounded up, as it is more than is allowed. Two benchmarks that differ
// can be certain to a billion percent, which says nothing.
func certainty(half float64) string {
	const most = 10
	if half > most {
		return "not certain at all"
	}
	return fmt.Sprintf("only certain to ±%.1f%%", math.Ceil(1000*half-1e-9)/10)
}

// figure returns a ratio with two digits after the point, or with three digits if it is very small
// or large.
func figure(ratio float64) string {
	if ratio < 0.01 || ratio >= 1000 {
		return fmt.Sprintf("%.3g", ratio)
	}
	return fmt.Sprintf("%.2f", ratio)
}

// disturbed returns why the load of others makes the interval wider; empty if it hardly does.
func disturbed(e *Estimate) string {
	const least = 0.01
	switch name := e.NodeType; {
	case e.busier < -least:
		name = e.Baseline
		fallthrough
	case e.busier > least:
		return fmt.Sprintf(" and other processes used %.0f%% more of the time of %s", 100*math.Abs(e.busier), name)
	}
	return ""
}

// loads returns a doubt if the ratio depends on how busy sibling threads are, which is not known.
func loads(p *pairing, ends *Ends) []Doubt {
	if !p.unknown {
		return nil
	}
	between := ""
	if ends != nil {
		between = fmt.Sprintf(": the ratio is %s with one busy thread per core and %s with all threads busy", figure(ends.OneThread), figure(ends.AllThreads))
	}
	return []Doubt{{LoadUnknown, fmt.Sprintf("%s has %d and %s %d threads per core%s; set loads, the share of busy time in which sibling threads are busy, too",
		p.of.name, p.of.threadsPerCore, describe(p.base, p.base), p.base.threadsPerCore, between)}}
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
