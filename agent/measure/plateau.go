package measure

import (
	"math"
	"slices"
)

const (
	// leastRuns is how many repetitions a score needs, and is made of at least.
	leastRuns = 3
	// quarter is the part of the repetitions, the fastest, that a score is made of.
	quarter = 4
	// slow is how far below the score a repetition was disturbed.
	slow = 0.10
)

// figure is what repetitions come to.
type figure struct {
	// score is the throughput, and deviation how far repetitions are from it.
	score, deviation float64
	// runs is how many repetitions make up the score, repetitions how many rates
	// there were, and disturbed how many of them were slower than the score by more
	// than 10 %.
	runs, repetitions, disturbed int
}

// plateau returns what rates come to that would be alike: the median of the fastest
// quarter of them, of three at least, and the scaled median absolute deviation of
// that quarter; no score if there are less than three.
//
// What disturbs a thread only ever makes it slower. On virtual machines that is, for
// seconds at a time, a neighbour on the other thread of the core, which nothing
// tells of: then most of the rates are on one of two levels, and their median is on
// either. The upper level is that of the machine. With a quarter, it is enough to
// be alone for a quarter of the time; with the median of it, one rate that is too
// high decides nothing.
func plateau(rates []float64) figure {
	if len(rates) < leastRuns {
		return figure{}
	}
	sorted := slices.Sorted(slices.Values(rates))
	top := sorted[len(sorted)-max(len(sorted)/quarter, leastRuns):]
	f := figure{score: median(top), runs: len(top), repetitions: len(rates)}
	deviations := make([]float64, len(top))
	for i, r := range top {
		deviations[i] = math.Abs(r - f.score)
	}
	slices.Sort(deviations)
	f.deviation = 1.4826 * median(deviations)
	for _, r := range rates {
		if r < (1-slow)*f.score {
			f.disturbed++
		}
	}
	return f
}

// median is that of what is sorted.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// series are the rates of each thread, one per repetition.
type series [][]float64

// add adds a repetition: a rate of each thread.
func (s *series) add(rates []float64) {
	if *s == nil {
		*s = make(series, len(rates))
	}
	for thread, rate := range rates {
		(*s)[thread] = append((*s)[thread], rate)
	}
}

// length is how many repetitions there were.
func (s series) length() int {
	if len(s) == 0 {
		return 0
	}
	return len(s[0])
}

// each sums up what the threads come to, each of which is one of a kind: threads of
// a kind are as fast as each other where nothing disturbs them, and so have one
// plateau. A neighbour of one of them may well stay.
func (s series) each(kinds [][]int) figure {
	if s.length() < leastRuns {
		return figure{}
	}
	sum := figure{runs: max(s.length()/quarter, leastRuns)}
	for _, threads := range kinds {
		var rates []float64
		for _, thread := range threads {
			rates = append(rates, s[thread]...)
		}
		f := plateau(rates)
		sum.score += f.score * float64(len(threads))
		sum.deviation += f.deviation * float64(len(threads))
		sum.repetitions += f.repetitions
		sum.disturbed += f.disturbed
	}
	return sum
}

// together has one plateau of what all threads do at a time. It is for what they
// share, as memory: what one does not get another one does.
func (s series) together() figure {
	sums := make([]float64, s.length())
	for _, rates := range s {
		for i, rate := range rates {
			sums[i] += rate
		}
	}
	return plateau(sums)
}

// spread is how far the repetitions that make up the score are from it, as a share
// of it.
func (f figure) spread() float64 {
	if f.score == 0 {
		return 0
	}
	return f.deviation / f.score
}
